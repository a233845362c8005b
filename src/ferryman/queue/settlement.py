"""How claims end: what a worker tells the store, and what the store answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ferryman.frozen import maker

if TYPE_CHECKING:
    from ferryman.job import Job, JobError, LogLine, State
    from ferryman.lifecycle import Verdict
    from ferryman.message import Message


@dataclass(frozen=True, slots=True)
class Settlement:
    """The end of one claim, fenced by (`job_id`, `fence`, `worker`); `queue` is the job's own.

    The worker is part of the fence because an id can be deleted and pushed again, and its claims
    are then numbered from 1 again.

    `delay` is seconds until the job is ready again (nack: None means by the job's backoff).
    `children` are pushed if and only if the job ends in `completed`, in the same commit.
    `percent`, `note` and `logs` are what the handler reported since the last heartbeat.
    """

    job_id: str
    fence: int
    worker: str
    queue: str
    verdict: Verdict
    result: str | None = None
    error: JobError | None = None
    delay: float | None = None
    children: tuple[Message, ...] = ()
    percent: float | None = None
    note: str | None = None
    logs: tuple[LogLine, ...] = ()

    @classmethod
    def of(cls, job: Job, verdict: Verdict, **report: Any) -> Settlement:
        """The end of the claim that `poll` answered with this job."""
        if report:
            return cls(job.id, job.fence, job.worker or "", job.queue, verdict, **report)
        return make_settlement(job.id, job.fence, job.worker or "", job.queue, verdict)

    @property
    def mark(self) -> str:
        """Kept with the job, so that the same settlement sent twice is known: claim and verdict."""
        return mark(self.fence, self.worker, self.verdict)


make_settlement = maker(Settlement)


def mark(fence: int, worker: str | None, verdict: Verdict) -> str:
    return f"{fence}:{worker}:{verdict}"


@dataclass(frozen=True, slots=True)
class Receipt:
    """The answer to one settlement: applied (now or before), or refused: the lease is lost."""

    job_id: str
    applied: bool
    state: State | None = None


make_receipt = maker(Receipt)
