"""Contenders by turns, a block of jobs each: a disk's good and bad minutes fall on all alike."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from bench.measure import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.crew import Crew
    from bench.stand import Stand


class Tally:
    """Jobs and the seconds that they took, over all turns."""

    def __init__(self) -> None:
        self._jobs = 0
        self._seconds = 0.0

    def add(self, jobs: int, work: Callable[[], object]) -> None:
        started = time.perf_counter()
        work()
        self._seconds += time.perf_counter() - started
        self._jobs += jobs

    @property
    def rate(self) -> float:
        return self._jobs / self._seconds


class Racer:
    """A full queue and its workers, which are frozen except in their own turns."""

    def __init__(self, stand: Stand[Any], crew: Crew) -> None:
        self._stand = stand
        self._crew = crew
        self._going = False
        self._seen = 0
        self._seconds = 0.0

    def run(self, handled: int) -> None:
        """Let the workers go on until so many jobs are handled in all."""
        marks = self._stand.marks
        started = time.perf_counter()
        if self._going:
            self._crew.thaw()
        else:
            self._crew.go()
            wait_until(lambda: marks.size() > 0, self._crew)
            self._going = True
            if marks.size() < handled:  # a tiny load may be over at the first look
                started, self._seen = time.perf_counter(), marks.size()
        wait_until(lambda: marks.size() >= handled, self._crew)
        self._seconds += time.perf_counter() - started
        self._crew.freeze()

    def end(self) -> None:
        """Let the workers go on until the store says that every end is recorded."""
        self._crew.thaw()
        started = time.perf_counter()
        wait_until(lambda: self._stand.contender.unfinished() == 0, self._crew)
        self._seconds += time.perf_counter() - started

    def lap(self) -> float:
        """Jobs a second in the turns since the last lap."""
        handled = self._stand.marks.size()
        rate = (handled - self._seen) / self._seconds
        self._seen, self._seconds = handled, 0.0
        return rate

    @property
    def handled(self) -> int:
        return self._stand.marks.size()

    def fill(self, jobs: int) -> None:
        self._stand.fill(jobs)
