"""From where a poll looks, while what was claimed before cannot be removed from the index."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ferryman.backends.postgresql.connection import Database
    from ferryman.job import Job

# A poll is slow from here on: so many seconds, and so many more for each of its jobs.
SLOW: Final = 0.01
EACH: Final = 0.0001
DEAD: Final = 50_000
"""Rows; fewer do not explain a slow poll."""
GAIN: Final = 3.0
"""How many times as quick a poll from a floor must be, or something else is slow."""
SLACK: Final = 1.0
"""Seconds: a push that took long to commit is older than some that were claimed already."""
WHOLE_EVERY: Final = 30.0
"""Seconds after which the whole line is looked at again, whatever that takes."""


class Floors:
    """The `ready_at` below which a queue has nothing, as far as is known.

    A transaction that somebody keeps open for minutes keeps vacuum from every row that died since:
    each poll would read all of them to find those that live. Only then there are floors. A job
    that is put below one, by an operator or with an old `ready_at`, waits up to `WHOLE_EVERY`, or
    until a poll from the floor finds nothing.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._floors: dict[str, float] = {}
        self._until = -math.inf
        self._tried_against: float | None = None

    def of(self, queues: Collection[str]) -> Sequence[float]:
        """One for each queue; −∞ is none."""
        if self._floors and time.monotonic() >= self._until:
            self._floors = {}
        return [self._floors.get(queue, -math.inf) for queue in queues]

    def lift(self) -> bool:
        """Have none; whether there was one."""
        had, self._floors = bool(self._floors), {}
        return had

    def learn(self, jobs: Sequence[Job], seconds: float) -> None:
        """Set them after a poll of the whole line that took too long; keep them if they help."""
        if not jobs:
            return
        if self._floors:
            self._judge(seconds)
        elif seconds >= SLOW + EACH * len(jobs) and time.monotonic() >= self._until:
            [(dead,)] = self._database.read("dead_rows")
            if dead >= DEAD:
                self._set(jobs, seconds)

    def _set(self, jobs: Sequence[Job], seconds: float) -> None:
        # Tenants in turn are not claimed in the order of `ready_at`.
        fair = {job.queue for job in jobs if job.tenant is not None}
        for job in jobs:
            if job.queue in fair:
                continue
            first = min(job.ready_at - SLACK, self._floors.get(job.queue, math.inf))
            self._floors[job.queue] = first
        self._tried_against = seconds
        self._until = time.monotonic() + WHOLE_EVERY

    def _judge(self, seconds: float) -> None:
        """By the first poll from them, whether they are worth it."""
        whole, self._tried_against = self._tried_against, None
        if whole is not None and seconds * GAIN > whole:
            self._floors = {}
