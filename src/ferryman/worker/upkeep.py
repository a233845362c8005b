"""What every worker does for all: reap expired leases, prune history, show itself."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from typing import TYPE_CHECKING, Any

from ferryman.errors import BackendError
from ferryman.queue.diagnosis import Hearing
from ferryman.tasks.spared import spared
from ferryman.worker.lookout import Lookout
from ferryman.worker.loop import Loop

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ferryman.events import Events
    from ferryman.flow.capacity import Capacities
    from ferryman.queue.contract import Backend
    from ferryman.worker.rollup import Rollup

PRUNE_EVERY = 600.0
ROLLUP_EVERY = 10.0
WORKER_CELLS = "worker/"


class Upkeep(Loop):
    """Reaps at the start and every few seconds: a crash is repaired while others run."""

    name = "upkeep"

    def __init__(
        self,
        backend: Backend,
        worker: str,
        *,
        every: float,
        row_every: float,
        history: float | None,
        row: Callable[[], Mapping[str, Any]],
        capacities: Capacities | None,
        rollup: Rollup | None,
        events: Events,
        died: Callable[[str, BaseException], None],
    ) -> None:
        super().__init__(events, died)
        self._backend = backend
        self._worker = worker
        self._every = every
        self._row_every = row_every
        self._history = history
        self._row = row
        self._capacities = capacities
        self._rollup = rollup
        self._rollup_every = max(ROLLUP_EVERY, row_every)
        self._lookout = (
            None if rollup is None else Lookout(backend, worker, rollup, ttl=3 * self._rollup_every)
        )
        self._next_row = 0.0
        self._next_rollup = 0.0
        self._next_prune = 0.0

    def turn(self) -> float:
        now = self._backend.clock.monotonic()
        if now >= self._next_row:
            self._show()
            self._next_row = now + self._row_every
        if self._rollup is not None and self._lookout is not None and now >= self._next_rollup:
            self._lookout.look()
            self._rollup.write()
            self._next_rollup = now + self._rollup_every
        self.reap()
        if self._capacities is not None:
            self._capacities.watch(self._backend)
        if self._history is not None and now >= self._next_prune:
            self.prune(self._history)
            self._next_prune = now + PRUNE_EVERY
        return self._every

    def reap(self) -> None:
        """Return expired leases until none is left."""
        while reaped := self._backend.reap():
            if self._rollup is not None:
                self._rollup.add_reaped(reaped)
            for job in reaped:
                self._events.emit("job.reaped", reaped=job, worker=self._worker)

    def prune(self, history: float) -> None:
        """Delete finished jobs older than `history` seconds, in batches."""
        spare = spared(self._backend, history)
        while not self.stopping:
            pruned = self._backend.prune(older_than=history, spare=spare)
            if not pruned:
                return
            self._events.emit("history.pruned", count=pruned)

    def leave(self) -> None:
        """Take this worker's row away; in an outage it is left to its ttl."""
        with contextlib.suppress(BackendError):
            if self._rollup is not None:
                self._rollup.write()
            if self._lookout is not None:
                self._lookout.leave()
            self._write(None)

    def _show(self) -> None:
        self._write(json.dumps({**this_process(), **self._row(), **_ties(self._backend)}))

    def _write(self, value: str | None) -> None:
        if not self._backend.capabilities.cells:
            return
        self._backend.write_cell(
            WORKER_CELLS + self._worker, value, expect=None, ttl=self._row_every * 4
        )


def _ties(backend: Backend) -> Mapping[str, Any]:
    """How this process stands to its store: by how many seconds the store's clock is ahead of this
    machine's, and whether it is told of pushes."""
    return {
        "skew": round(backend.clock.now() - time.time(), 3),
        "hears": backend.hears() if isinstance(backend, Hearing) else None,
    }


def this_process() -> Mapping[str, Any]:
    """Where a worker runs, and of which version it is."""
    from importlib.metadata import version

    return {"host": socket.gethostname(), "pid": os.getpid(), "version": version("ferryman")}
