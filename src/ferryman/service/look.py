"""One look at a store for all who ask at nearly the same time."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ferryman.errors import FerrymanError
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
QUICK: Final = 0.003
"""Seconds; what takes less is counted for each who asks."""
MANY: Final = 25_000
"""Unfinished jobs: where fewer take longer than that, something else was slow."""
SHARE: Final = 0.05
"""Of the time, at most so much is spent counting, unless counts were older than `OLD` then."""
OLD: Final = 3.0
"""Seconds after which another count is made beside whoever asks."""
LONGEST: Final = 10.0
"""Seconds: nobody gets a count that is older."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A count, when it was begun and how long it took."""

    began: float
    took: float
    snapshot: Snapshot

    @property
    def costly(self) -> bool:
        if self.took < QUICK:
            return False
        counts = self.snapshot.queues.values()
        unfinished = (n for one in counts for s, n in one.states.items() if s not in TERMINAL)
        return sum(unfinished) > MANY


class Look:
    """The counts and the workers of a store, as old as they may be; thread-safe.

    What is counted quickly is counted for each who asks, a store that takes long once in a while:
    whoever asks in between gets the last count, and when that is old the next is made beside.
    While `watched` is set, those who ask get what the watcher saw last. After `forget` nobody gets
    what was seen before it.
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
        seen = self._seen
        if seen is None or not seen.costly:
            return (self._within(WATCHED) if self.watched else None) or self.renew()
        if not self._recent(seen.began, LONGEST):
            return self._in_turn()
        longest = max(min(seen.took / SHARE, OLD), WATCHED if self.watched else 0.0)
        if not self._recent(seen.began, longest) and self._asking.acquire(blocking=False):
            self._begin_beside()
        return seen.snapshot

    def renew(self) -> Snapshot:
        """The same as it is now."""
        began = self._monotonic()
        snapshot = self._backend.snapshot()
        seen = self._seen
        # One that took long must not replace what another has seen since.
        if seen is None or seen.began <= began:
            self._seen = _Seen(began, self._monotonic() - began, snapshot)
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

    def _in_turn(self) -> Snapshot:
        """Count, or wait for the count of another who was quicker.

        Not for ever, or a store that hangs would be asked by one after the other. What was begun
        after the last change that he may know of will do, whatever changes while he waits.
        """
        since = self._since
        waited = self._asking.acquire(timeout=LONGEST)
        try:
            return self._within(LONGEST, since) or self.renew()
        finally:
            if waited:
                self._asking.release()

    def _begin_beside(self) -> None:
        try:
            threading.Thread(target=self._beside, name="ferryman-look", daemon=True).start()
        except RuntimeError:
            # The process may have no more threads, or is about to end.
            self._asking.release()

    def _beside(self) -> None:
        """Count for those who ask later; they meet what fails here by themselves."""
        try:
            self.renew()
        except FerrymanError:
            pass
        finally:
            self._asking.release()

    def _within(self, longest: float, since: float | None = None) -> Snapshot | None:
        """The last count, if it is no older than so many seconds."""
        seen = self._seen
        return seen.snapshot if seen and self._recent(seen.began, longest, since) else None

    def _recent(self, began: float, longest: float, since: float | None = None) -> bool:
        changed = self._since if since is None else since
        return began > changed and self._monotonic() - began < longest
