"""What the target makes of a batch of jobs, refusals included."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.errors import InvalidMessage
from ferryman.service.move.report import Left

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.job import Job
    from ferryman.queue.contract import Backend


def take_in(target: Backend, jobs: Sequence[Job]) -> tuple[list[Job], list[Job], list[Left]]:
    """Which jobs were created, which were there already, and which are refused and why."""
    created, existing, refused = [], [], []
    for job, status in zip(jobs, _restore(target, jobs), strict=True):
        if status == "created":
            created.append(job)
        elif status == "existing":
            existing.append(job)
        else:
            why = _conflict(target, job) if status == "conflict" else status
            refused.append(Left(job.id, job.queue, why))
    return created, existing, refused


def is_further(job: Job, other: Job) -> bool:
    """Whether more has happened to this record of a job than to the other; times do not decide."""
    return _history(job) > _history(other)


def _history(job: Job) -> tuple[int, int, bool]:
    return job.generation, job.fence, job.state.terminal


def _restore(target: Backend, jobs: Sequence[Job]) -> Sequence[str]:
    try:
        return [answer.status for answer in target.restore(jobs)]
    except InvalidMessage as refusal:
        if len(jobs) == 1:
            return [f"no store would accept it: {refusal}"]
        # One bad job must not keep the others of its batch out.
        return [status for job in jobs for status in _restore(target, [job])]


def _conflict(target: Backend, job: Job) -> str:
    if target.get(job.id) is not None:
        return "the target has other work under this id"
    if job.key is not None and not job.state.terminal:
        return f"an unfinished job of the target has its key {job.key!r}"
    return "something at the target has its place: `ferryman doctor` may tell what"
