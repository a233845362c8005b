"""From where a poll looks, while what was claimed before cannot be removed from the index."""

from __future__ import annotations

import math
import time
from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ferryman.backends.postgresql.connection import Database
    from ferryman.job import Job

# A poll is slow from here on: so many seconds, and so many more for each of its jobs.
SLOW: Final = 0.005
EACH: Final = 0.00005
DEAD: Final = 5_000
"""Rows; fewer do not explain a slow poll."""
GAIN: Final = 2.0
"""How many times as quick a poll from a floor must be, or something else is slow."""
SLACK: Final = 1.0
"""Seconds: a push that took long to commit is older than some that were claimed already."""
WHOLE_EVERY: Final = 30.0
"""Seconds after which the whole line is looked at again, whatever that takes."""


class Floors:
    """The `ready_at` below which a queue has nothing, as far as is known.

    A transaction that somebody keeps open for minutes keeps vacuum from every row that died since:
    each poll would read all of them to find those that live. Only then there are floors, and they
    rise with what is claimed. What was passed by, behind higher priorities or because its task was
    skipped, is looked for as soon as there is room for it. A job that is put below a floor, by an
    operator or with an old `ready_at`, waits up to `WHOLE_EVERY`, or until a poll finds nothing.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._floors: dict[str, float] = {}
        self._until = -math.inf
        self._tried_against: float | None = None
        self._full = False
        self._skipped: frozenset[str] = frozenset()

    def of(self, queues: Collection[str], skip_tasks: Collection[str]) -> Sequence[float]:
        """One for each queue; −∞ is none."""
        if self._floors:
            if time.monotonic() >= self._until:
                self._floors = {}
            elif not self._skipped.issubset(skip_tasks):
                self._begin_anew()
        return [self._floors.get(queue, -math.inf) for queue in queues]

    def lift(self) -> bool:
        """Have none; whether there was one."""
        had, self._floors = bool(self._floors), {}
        return had

    def learn(
        self,
        jobs: Sequence[Job],
        seconds: float,
        limits: Mapping[str, int],
        skip_tasks: Collection[str],
    ) -> None:
        """Set them after a poll of the whole line that took long; let them rise if they help."""
        if not jobs:
            return
        if self._floors:
            self._judge(seconds)
            self._rise(jobs, limits, skip_tasks)
        elif seconds >= SLOW + EACH * len(jobs) and time.monotonic() >= self._until:
            [(dead,)] = self._database.read("dead_rows")
            if dead >= DEAD:
                self._floors = _below(jobs)
                self._full = _some_full(jobs, limits)
                self._skipped = frozenset(skip_tasks)
                self._tried_against = seconds
                self._until = time.monotonic() + WHOLE_EVERY

    def _judge(self, seconds: float) -> None:
        """By the first poll from them, whether they are worth it."""
        whole, self._tried_against = self._tried_against, None
        if whole is not None and seconds * GAIN > whole:
            self._floors = {}

    def _rise(
        self, jobs: Sequence[Job], limits: Mapping[str, int], skip_tasks: Collection[str]
    ) -> None:
        """What was claimed since is dead as well."""
        full = _some_full(jobs, limits)
        if self._full and not full:
            self._begin_anew()
            return
        self._full = full
        self._skipped |= frozenset(skip_tasks)
        for queue, floor in _below(jobs).items():
            if queue in self._floors:
                self._floors[queue] = max(self._floors[queue], floor)

    def _begin_anew(self) -> None:
        self._floors, self._until = {}, -math.inf


def _some_full(jobs: Sequence[Job], limits: Mapping[str, int]) -> bool:
    """Whether a queue gave all that was asked for, so that it may have more."""
    claimed = Counter(job.queue for job in jobs)
    return any(count >= limits[queue] for queue, count in claimed.items())


def _below(jobs: Sequence[Job]) -> dict[str, float]:
    """A floor for each queue of which jobs were claimed, but for those with tenants.

    Tenants in turn are not claimed in the order of `ready_at`.
    """
    floors: dict[str, float] = {}
    for job in jobs:
        floors[job.queue] = min(job.ready_at - SLACK, floors.get(job.queue, math.inf))
    for queue in {job.queue for job in jobs if job.tenant is not None}:
        del floors[queue]
    return floors
