"""What the verbs read of a job before they change it: columns of both tables, selected by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferryman.queue.settlement import Settlement

if TYPE_CHECKING:
    from ferryman.job import Ask, JobError
    from ferryman.lifecycle import Verdict


class Claim(NamedTuple):
    """A job's latest claim, for the verbs that end it; `{claim}` in a statement."""

    seq: int
    id: str
    queue: str
    task: str
    state: str
    fence: int
    asked: Ask | None
    attempts: int
    max_attempts: int
    given_back: int
    backoff: str | None
    worker: str | None
    settled: str | None

    def ended(self, verdict: Verdict, error: JobError | None = None) -> Settlement:
        """Its end by the store itself."""
        return Settlement(self.id, self.fence, self.worker or "", self.queue, verdict, error=error)


class Known(NamedTuple):
    """A job that a message or an operator meets; `{known}` in a statement."""

    seq: int
    id: str
    queue: str
    task: str
    version: int
    body: str
    state: str
    attempts: int
    ready_at: float
    key: str | None
