"""The queues that a move has paused, remembered in the store itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferryman.queue.contract import Backend

CELLS: Final = "move/paused/"
BEFORE: Final = "paused before"
BY_US: Final = "paused by the move"


class Pauses:
    """Pauses queues and gives each back the pause it had, even after a move that was killed."""

    def __init__(self, store: Backend) -> None:
        self._store = store

    def pause(self, queues: Iterable[str]) -> None:
        """Stop claims; what was remembered by an earlier, killed move is believed."""
        counts = self._store.snapshot().queues
        known = {cell.key.removeprefix(CELLS) for cell in self._store.read_cells(CELLS)}
        for queue in queues:
            paused = queue in counts and counts[queue].paused
            if paused and queue in known:
                continue
            # The note comes first: a pause that nobody remembers would last for ever.
            if queue not in known:
                note = BEFORE if paused else BY_US
                self._store.write_cell(CELLS + queue, note, expect=None)
            self._store.pause_queue(queue)

    def restore(self) -> None:
        """Resume what a move paused, and forget it."""
        for cell in self._store.read_cells(CELLS):
            if cell.value == BY_US:
                self._store.resume_queue(cell.key.removeprefix(CELLS))
            self._store.write_cell(cell.key, None, expect=None)
