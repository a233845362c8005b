"""What waits in a queue, and the limits that its jobs have to pass before a worker claims them.

The store tells it all: workers publish what their tasks need, and share limits in cells.
"""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

from ferryman.flow.capacity import EASED
from ferryman.flow.circuit import Phase
from ferryman.job import State
from ferryman.service.checks.chart import span
from ferryman.tasks.limits import Quota
from ferryman.worker.known import NO_HOLD, Hold, of_queue, of_task

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferryman.job import Job
    from ferryman.queue.answers import QueueCounts
    from ferryman.service.insights import Insights
    from ferryman.service.limits import BreakerRow, PermitRow, RateRow
    from ferryman.service.workers import WorkerRow

SOON: Final = 60.0
"""Seconds in which a worker is started, so that grants until then count for an autoscaler."""


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit of `owner` (`task:…` or `queue:…`); `soon` jobs of it can start within a minute.

    `shut`: it holds jobs back now, as `text` says; `fix` is a command or what to look at.
    """

    kind: Literal["breaker", "concurrency", "rate", "full"]
    owner: str
    shut: bool
    soon: int
    text: str
    fix: str


class Waiting:
    """The pending jobs of one queue, by the newest of them, and who could claim them."""

    def __init__(self, insights: Insights, counts: QueueCounts) -> None:
        self._insights = insights
        self._counts = counts
        rows = insights.workers() if insights.knows_workers else ()
        self.workers: Sequence[WorkerRow] = [
            row for row in rows if counts.queue in row.queues and not row.stale
        ]

    @property
    def slots(self) -> int:
        """What its live workers can run at once."""
        return sum(row.queues[self._counts.queue] for row in self.workers)

    @cached_property
    def jobs(self) -> Sequence[Job]:
        pending = self._counts.states.get(State.PENDING, 0)
        return self._insights.waiting(self._counts.queue) if pending else ()

    @cached_property
    def tasks(self) -> Mapping[str, int]:
        """Those of the newest jobs that are due, and how many of these there are."""
        now = self._insights.now()
        return Counter(sorted(job.task for job in self.jobs if job.ready_at <= now))

    @property
    def strangers(self) -> Sequence[Job]:
        """One job of each task that none of the workers can run."""
        if not self.workers or any(row.tasks is None for row in self.workers):
            return []
        known = [row.tasks or {} for row in self.workers]
        found = {
            (job.task, job.version): job
            for job in self.jobs
            if all(tasks.get(job.task, 0) < job.version for tasks in known)
        }
        return [found[name] for name in sorted(found)]

    def limits(self) -> Sequence[Limit]:
        """The limits of the queue and of the tasks that wait there, as far as they are known."""
        owners = [of_queue(self._counts.queue), *map(of_task, self.tasks)]
        holds = {owner: self._hold(owner) for owner in owners}
        return [
            *self._breakers(holds),
            *self._permits(holds),
            *self._rates(holds),
            *self._full(holds),
        ]

    def _hold(self, owner: str) -> Hold:
        if all(row.tasks is None for row in self.workers):
            # Nobody who says it is there; limits of its own are named after their owner.
            return Hold(rate=owner, concurrency=0)
        found = (row.holds[owner] for row in self.workers if owner in row.holds)
        return next(found, NO_HOLD)

    def _breakers(self, holds: Mapping[str, Hold]) -> Iterator[Limit]:
        if not any(hold.needs for hold in holds.values()):
            return
        rows = {row.name: row for row in self._insights.breakers()}
        now = self._insights.now()
        for owner, hold in holds.items():
            for name in hold.needs:
                if name in rows and rows[name].phase is not Phase.CLOSED:
                    yield _breaker(owner, rows[name], now)

    def _permits(self, holds: Mapping[str, Hold]) -> Iterator[Limit]:
        if all(hold.concurrency is None for hold in holds.values()):
            return
        rows = {row.name: row for row in self._insights.permits()}
        for owner, hold in holds.items():
            row = rows.get(owner)
            most = hold.concurrency or (row.limit if row else None)
            if hold.concurrency is not None and most:
                yield _permits(owner, most, row)

    def _rates(self, holds: Mapping[str, Hold]) -> Iterator[Limit]:
        if all(hold.rate is None for hold in holds.values()):
            return
        rows = self._insights.rates()
        now = self._insights.now()
        for owner, hold in holds.items():
            quotas = [row for row in rows if row.name == hold.rate]
            if quotas:
                yield _rate(owner, quotas, now)

    def _full(self, holds: Mapping[str, Hold]) -> Iterator[Limit]:
        idle = not self._counts.states.get(State.PROCESSING, 0)
        for owner, hold in holds.items():
            for queue, capacity in hold.feeds.items():
                # One that was full stays closed until it has eased, so nothing runs here.
                bound = capacity * EASED if idle else capacity
                if self._insights.depth(queue) >= bound:
                    yield _full(owner, queue, capacity)


def _breaker(owner: str, row: BreakerRow, now: float) -> Limit:
    probes = row.phase is Phase.HALF_OPEN or (row.until or 0.0) <= now + SOON
    return Limit(
        "breaker",
        owner,
        shut=True,
        soon=1 if probes else 0,
        text=f"breaker {row.name} is {row.phase}{_needed_by(owner)}",
        fix=f"ferryman breakers reset {shlex.quote(row.name)}, once what it guards works again",
    )


def _permits(owner: str, most: int, row: PermitRow | None) -> Limit:
    live = 0 if row is None else sum(row.holders.values())
    return Limit(
        "concurrency",
        owner,
        shut=live >= most,
        soon=max(0, most - live),
        text=f"{live} of at most {most} jobs run at once{_needed_by(owner)}",
        fix="wait until one ends, or raise concurrency= where the app declares it",
    )


def _rate(owner: str, quotas: Sequence[RateRow], now: float) -> Limit:
    free_at = max(row.free_at for row in quotas)
    spent = ", ".join(f"{row.left} of {row.quota} left" for row in quotas)
    name = quotas[0].name
    return Limit(
        "rate",
        owner,
        shut=free_at > now,
        soon=min(_granted(row, now) for row in quotas),
        text=f"rate {name} is spent ({spent}): the next grant comes in {span(free_at - now)}"
        f"{'' if name == owner else _needed_by(owner)}",
        fix="wait for it, or raise the rate where the app declares it",
    )


def _granted(row: RateRow, now: float) -> int:
    """What one quota gives until a worker that is started now would run."""
    if row.free_at > now + SOON:
        return 0
    quota = Quota.parse(row.quota)
    return quota.count if quota.seconds <= SOON else max(1, row.left)


def _full(owner: str, queue: str, capacity: int) -> Limit:
    return Limit(
        "full",
        owner,
        shut=True,
        soon=0,
        text=f"queue {queue}, which comes next, is full: {capacity} jobs may wait there"
        f"{_needed_by(owner)}",
        fix=f"see why {queue} is not worked off: it needs workers, or less work",
    )


def _needed_by(owner: str) -> str:
    kind, _, name = owner.partition(":")
    return f" (task {name})" if kind == "task" else ""
