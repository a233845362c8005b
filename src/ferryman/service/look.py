"""One look at a store for all who ask at nearly the same time."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ferryman.job import TERMINAL
from ferryman.service.workers import WorkerRow
from ferryman.worker.upkeep import WORKER_CELLS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.queue.answers import Snapshot
    from ferryman.queue.contract import Backend

WATCHED: Final = 1.5
"""Seconds for which a look serves everybody while somebody looks again and again anyway."""
WORKERS_WATCHED: Final = 12.0
COST: Final = 0.000_002
"""Seconds for each unfinished job: some stores count them, so many need a while."""
CHEAP: Final = 0.05
"""A count that costs less is made for each who asks."""
LONGEST: Final = 5.0


@dataclass(frozen=True, slots=True)
class _Seen:
    began: float
    snapshot: Snapshot

    @property
    def cost(self) -> float:
        counts = self.snapshot.queues.values()
        jobs = sum(n for one in counts for s, n in one.states.items() if s not in TERMINAL)
        return COST * jobs if COST * jobs > CHEAP else 0.0


class Look:
    """The counts and the workers of a store, as old as they may be; thread-safe.

    A store of a million waiting jobs is counted every two seconds at most, a small one for each who
    asks. While `watched` is set, those who ask get what the watcher saw last. After `forget` nobody
    gets what was seen before it.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._monotonic = backend.clock.monotonic
        self._asking = threading.Lock()
        self._seen: _Seen | None = None
        self._workers: tuple[float, Sequence[WorkerRow]] | None = None
        self._since = -1.0
        self.watched = False

    def snapshot(self) -> Snapshot:
        """Counts by queue and state."""
        seen = self._fresh()
        if seen is not None:
            return seen.snapshot
        costly = self._seen is not None and self._seen.cost > 0.0
        # Where a count takes long, the others wait for its end instead of counting too; not for
        # ever, or a store that hangs would be asked by one after the other.
        waited = costly and self._asking.acquire(timeout=1.0)
        try:
            seen = self._fresh()
            return self.renew() if seen is None else seen.snapshot
        finally:
            if waited:
                self._asking.release()

    def renew(self) -> Snapshot:
        """The same as it is now."""
        began = self._monotonic()
        snapshot = self._backend.snapshot()
        self._seen = _Seen(began, snapshot)
        return snapshot

    def workers(self) -> Sequence[WorkerRow]:
        """The workers that showed themselves lately, by id."""
        seen = self._workers
        if self.watched and seen is not None and self._recent(seen[0], WORKERS_WATCHED):
            return seen[1]
        return self.renew_workers()

    def renew_workers(self) -> Sequence[WorkerRow]:
        """The same as it is now."""
        began, now = self._monotonic(), self._backend.clock.now()
        rows = [WorkerRow.read(cell, now) for cell in self._backend.read_cells(WORKER_CELLS)]
        self._workers = (began, rows)
        return rows

    def forget(self) -> None:
        """Something has changed: what was seen until now is old."""
        self._since = self._monotonic()

    def _fresh(self) -> _Seen | None:
        seen = self._seen
        if seen is None:
            return None
        longest = max(min(seen.cost, LONGEST), WATCHED if self.watched else 0.0)
        return seen if self._recent(seen.began, longest) else None

    def _recent(self, began: float, longest: float) -> bool:
        return began > self._since and self._monotonic() - began < longest
