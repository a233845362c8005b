"""Runs that were paused: what is handed over in them meanwhile must wait too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ferryman.message import RUN
from ferryman.outcomes import Snooze

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman.job import Job
    from ferryman.queue.contract import Backend

CELLS: Final = "paused-run/"
RESUME: Final = "ferryman.resume"
FRESH: Final = 1.0
"""Seconds for which a look at the paused runs is good enough."""


class Pauses:
    """The paused runs of a store, as they were at most a second ago."""

    def __init__(self, backend: Callable[[], Backend]) -> None:
        self._backend = backend
        self._runs: frozenset[str] = frozenset()
        self._until = float("-inf")

    def check(self, job: Job) -> None:
        """Pause a job of a paused run instead of running it: it is given back uncharged."""
        backend = self._backend()
        if not backend.capabilities.cells:
            return
        now = backend.clock.monotonic()
        if now >= self._until:
            self._runs = frozenset(cell.value for cell in backend.read_cells(CELLS))
            self._until = now + FRESH
        if job.meta[RUN] in self._runs and is_paused(backend, job.meta[RUN]):
            backend.pause([job.id])
            raise Snooze(0, "its run is paused")


def is_paused(backend: Backend, run: str) -> bool:
    """Whether a run is paused now."""
    return any(cell.value == run for cell in backend.read_cells(CELLS + run))


def set_paused(backend: Backend, run: str, paused: bool) -> None:
    """Pause what a run hands over from now on, or let it go."""
    backend.write_cell(CELLS + run, run if paused else None, expect=None)
