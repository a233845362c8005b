"""A job's claim as SQL stores read it, and what ending it means besides its landing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferryman.job import JobError
from ferryman.lifecycle import GIVEN_BACK_TOO_OFTEN, Verdict
from ferryman.queue.settlement import Settlement
from ferryman.retry import DEFAULT_BACKOFF, Backoff

if TYPE_CHECKING:
    from ferryman.job import Ask


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


def ready_at(now: float, claim: Claim, settlement: Settlement) -> float:
    """When a job that goes back to its queue may be claimed again."""
    if settlement.delay is not None:
        return now + settlement.delay
    if settlement.verdict is Verdict.GIVE_BACK:
        return now
    return now + _backoff(claim.backoff).delay(claim.attempts)


def _backoff(text: str | None) -> Backoff:
    try:
        return Backoff.parse(text)
    except (ValueError, TypeError):
        # One job with a policy that nobody can read must not stop the reaper.
        return DEFAULT_BACKOFF


def given_back_too_often(now: float, claim: Claim) -> JobError:
    """What a job says that failed because no worker would keep it."""
    return JobError(
        attempt=claim.attempts,
        at=now,
        worker=claim.worker,
        kind="given_back",
        text=GIVEN_BACK_TOO_OFTEN,
    )
