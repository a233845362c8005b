"""Why nothing starts: what keeps the ready jobs of a queue from being claimed, and what to do."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from ferryman.flow.circuit import Phase
from ferryman.job import State

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from ferryman.queue.answers import QueueCounts
    from ferryman.service.insights import Insights
    from ferryman.service.workers import WorkerRow


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that holds jobs back; `fix` is a command or what to look at."""

    reason: str
    text: str
    fix: str


@dataclass(frozen=True, slots=True)
class Scale:
    """How many workers a queue could use: `wanted` of those with `slots` slots for it."""

    queue: str
    ready: int
    running: int
    slots: int
    wanted: int


def why(
    insights: Insights, counts: QueueCounts, needs: Collection[str] | None = None
) -> Sequence[Reason]:
    """What holds back the jobs of a queue; nothing where they start, or where none waits.

    `needs` are the breakers of its tasks, if they are known.
    """
    return [*_of_queue(counts), *_of_workers(insights, counts), *_of_breakers(insights, needs)]


def scale(insights: Insights, name: str) -> Scale:
    """What an autoscaler asks: workers for all that is ready or runs; 0 lets it go to zero."""
    counts = insights.queue(name)
    rows = _serving(insights, name)
    slots = max(1, sum(row.queues[name] for row in rows) // len(rows)) if rows else 1
    running = counts.states.get(State.PROCESSING, 0)
    ready = 0 if counts.paused else counts.ready
    return Scale(name, counts.ready, running, slots, ceil((ready + running) / slots))


def _of_queue(counts: QueueCounts) -> Iterator[Reason]:
    name = shlex.quote(counts.queue)
    if counts.paused:
        yield Reason("paused", "the queue is paused", f"ferryman queues resume {name}")
    if counts.ready == 0 and counts.scheduled:
        yield Reason(
            "scheduled",
            f"all {counts.scheduled} pending jobs are scheduled for later",
            "wait until they are due",
        )
    held = counts.states.get(State.PAUSED, 0)
    if counts.ready == 0 and held:
        where = shlex.quote(f"queue:{counts.queue} state:paused")
        yield Reason("held", f"{held} jobs are paused", f"ferryman jobs resume --where {where}")


def _of_workers(insights: Insights, counts: QueueCounts) -> Iterator[Reason]:
    if counts.ready == 0 or counts.paused or not insights.knows_workers:
        return
    rows = _serving(insights, counts.queue)
    if not rows:
        yield Reason(
            "no_workers",
            f"no worker serves this queue, and {counts.ready} jobs are ready",
            f"ferryman work module:attribute --queues {shlex.quote(counts.queue)}",
        )
        return
    slots = sum(row.queues[counts.queue] for row in rows)
    running = counts.states.get(State.PROCESSING, 0)
    if running >= slots:
        yield Reason(
            "busy",
            f"all {slots} slots are busy, and {counts.ready} jobs wait for one",
            "start more workers, or give this queue more slots with --queues",
        )


def _of_breakers(insights: Insights, needs: Collection[str] | None) -> Iterator[Reason]:
    if not insights.knows_workers:
        return
    for row in insights.breakers():
        if row.phase is not Phase.CLOSED and needs is not None and row.name in needs:
            yield Reason(
                "breaker",
                f"breaker {row.name} is {row.phase}",
                f"ferryman breakers reset {shlex.quote(row.name)}, once what it guards works again",
            )


def _serving(insights: Insights, queue: str) -> Sequence[WorkerRow]:
    rows = insights.workers() if insights.knows_workers else ()
    return [row for row in rows if queue in row.queues and not row.stale]
