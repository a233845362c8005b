"""One worker of all notes how long the oldest ready jobs have been due."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ferryman.queue.cell import read_cell

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend
    from ferryman.worker.rollup import Rollup

LOOKOUT_CELL: Final = "lookout"


class Lookout:
    """Looks at the store for its worker's history, unless another worker does.

    Whoever looks has the cell until `ttl` seconds after its last look: the cost does not grow with
    the number of workers, and the place of one that dies is taken.
    """

    def __init__(self, backend: Backend, worker: str, rollup: Rollup, *, ttl: float) -> None:
        self._backend = backend
        self._worker = worker
        self._rollup = rollup
        self._ttl = ttl

    def look(self) -> None:
        """Note the ages of all queues, if it is this worker's turn."""
        cell = read_cell(self._backend, LOOKOUT_CELL)
        if cell is None or cell.value == self._worker:
            expect = 0 if cell is None else cell.version
            if self._backend.write_cell(LOOKOUT_CELL, self._worker, expect=expect, ttl=self._ttl):
                self._rollup.add_ages(self._backend.snapshot())

    def leave(self) -> None:
        """Let another worker look from now on."""
        cell = read_cell(self._backend, LOOKOUT_CELL)
        if cell is not None and cell.value == self._worker:
            self._backend.write_cell(LOOKOUT_CELL, None, expect=cell.version)
