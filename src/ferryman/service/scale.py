"""How many workers a queue could use, for autoscalers."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf
from typing import TYPE_CHECKING, Final

from ferryman.job import State
from ferryman.queue.answers import QueueCounts
from ferryman.service.waiting import Waiting
from ferryman.worker.known import of_queue, of_task

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferryman.service.insights import Insights
    from ferryman.service.waiting import Limit

SLOTS: Final = 4
"""Slots of a worker, where none is alive that could tell."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How many workers a queue could use: `wanted` of those with `slots` slots for it."""

    queue: str
    ready: int
    running: int
    slots: int
    wanted: int


def scale(insights: Insights, name: str, slots: int = SLOTS) -> Scale:
    """What an autoscaler asks: workers for all that runs or could start; 0 lets it go to zero.

    `slots` are those of a worker that would be started; where some are alive, theirs count. A queue
    without jobs wants none.
    """
    found = {counts.queue: counts for counts in insights.queues()}
    counts = found.get(name) or QueueCounts(name, {})
    waiting = Waiting(insights, counts)
    if waiting.workers:
        slots = max(1, waiting.slots // len(waiting.workers))
    running = counts.states.get(State.PROCESSING, 0)
    start = 0 if counts.paused else counts.ready
    if start and insights.knows_workers:
        start = _most(name, waiting.tasks, waiting.limits(), start)
    return Scale(name, counts.ready, running, slots, ceil((start + running) / slots))


def _most(queue: str, tasks: Mapping[str, int], limits: Sequence[Limit], ready: int) -> int:
    """How many of the ready jobs the limits let start: the queue's, and those of every task."""

    def soon(owner: str) -> float:
        return min((limit.soon for limit in limits if limit.owner == owner), default=inf)

    seen = sum(tasks.values())
    # Of more jobs than were looked at, the tasks are taken to have the same shares.
    by_task = [min(ceil(ready * n / seen), soon(of_task(task))) for task, n in tasks.items()]
    return int(min(ready, soon(of_queue(queue)), sum(by_task) if by_task else inf))
