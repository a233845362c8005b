"""Why nothing starts: what keeps the ready jobs of a queue from being claimed, and what to do."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferryman.job import State
from ferryman.service.waiting import Waiting

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferryman.queue.answers import QueueCounts
    from ferryman.service.insights import Insights


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that holds jobs back; `fix` is a command or what to look at."""

    reason: str
    text: str
    fix: str


def why(insights: Insights, counts: QueueCounts) -> Sequence[Reason]:
    """What holds back the jobs of a queue; nothing where they start, or where none waits."""
    if counts.paused:
        name = shlex.quote(counts.queue)
        return [Reason("paused", "the queue is paused", f"ferryman queues resume {name}")]
    waiting = Waiting(insights, counts)
    return [
        *_of_strangers(waiting),
        *_of_limits(waiting, counts),
        *(_of_workers(waiting, counts) if insights.knows_workers else ()),
        *_of_queue(waiting, counts),
    ]


def _of_strangers(waiting: Waiting) -> Iterator[Reason]:
    for job in waiting.strangers:
        version = f"version {job.version} of " if job.version > 1 else ""
        yield Reason(
            "unknown_task",
            f"no worker of this queue knows {version}the task {job.task}",
            f"start one whose app declares it: job {job.id} and others like it are given back",
        )


def _of_limits(waiting: Waiting, counts: QueueCounts) -> Iterator[Reason]:
    if counts.ready == 0 or not waiting.workers:
        return
    for limit in waiting.limits():
        if limit.shut:
            yield Reason(limit.kind, limit.text, limit.fix)


def _of_workers(waiting: Waiting, counts: QueueCounts) -> Iterator[Reason]:
    if counts.ready == 0:
        return
    if not waiting.workers:
        yield Reason(
            "no_workers",
            f"no worker serves this queue, and {counts.ready} jobs are ready",
            f"ferryman work module:attribute --queues {shlex.quote(counts.queue)}",
        )
    elif counts.states.get(State.PROCESSING, 0) >= waiting.slots:
        yield Reason(
            "busy",
            f"all {waiting.slots} slots are busy, and {counts.ready} jobs wait for one",
            "start more workers, or give this queue more slots with --queues",
        )


def _of_queue(waiting: Waiting, counts: QueueCounts) -> Iterator[Reason]:
    if counts.ready:
        return
    strange = {(job.task, job.version) for job in waiting.strangers}
    # What nobody knows is given back for a while: to wait until it is due would not help.
    due = not waiting.jobs or any((job.task, job.version) not in strange for job in waiting.jobs)
    if counts.scheduled and due:
        yield Reason(
            "scheduled",
            f"all {counts.scheduled} pending jobs are scheduled for later",
            "wait until they are due",
        )
    held = counts.states.get(State.PAUSED, 0)
    if held:
        where = shlex.quote(f"queue:{counts.queue} state:paused")
        yield Reason("held", f"{held} jobs are paused", f"ferryman jobs resume --where {where}")
