"""The one transition table. Pure: every backend asks it, none decides by itself."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ferryman.errors import InvalidMessage, NotAllowed
from ferryman.job import TERMINAL, Ask, State

MAX_GIVEN_BACK: Final = 1_000
WORKER_TIMED_OUT: Final = "Worker timed out"
EXPIRED: Final = "Expired before it started"
GIVEN_BACK_TOO_OFTEN: Final = f"Given back {MAX_GIVEN_BACK:,} times without a finished attempt"
MAX_LOG_LINES: Final = 1_000
"""Of a job's log the newest lines are kept."""
YOUNGEST_PRUNED: Final = 86_400.0
"""Seconds for which a finished job is kept at least: until then the same push is known."""


class Verdict(StrEnum):
    """How a claim ends."""

    ACK = "ack"
    NACK = "nack"
    FAIL = "fail"
    GIVE_BACK = "give_back"
    CANCEL = "cancel"
    EXPIRE = "expire"


class Act(StrEnum):
    """What an operator does to a job."""

    CANCEL = "cancel"
    PAUSE = "pause"
    RESUME = "resume"
    RETRY = "retry"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Landing:
    """Where a claim leaves its job, and whether the attempt stays charged."""

    state: State
    charged: bool = True
    hands_over: bool = False


def land(
    verdict: Verdict, *, asked: Ask | None, attempts: int, max_attempts: int, given_back: int
) -> Landing:
    """The state of a processing job after its claim ends by `verdict`.

    A cancel that was asked wins over every further run; a pause only over a run that would follow.
    """
    match verdict:
        case Verdict.ACK if asked == "cancel":
            return Landing(State.CANCELLED)
        case Verdict.ACK:
            return Landing(State.COMPLETED, hands_over=True)
        case Verdict.CANCEL:
            return Landing(State.CANCELLED)
        case Verdict.FAIL:
            return Landing(State.FAILED)
        case Verdict.GIVE_BACK:
            return _given_back(asked, given_back)
        case Verdict.NACK | Verdict.EXPIRE:
            return _charged(asked, attempts, max_attempts)


def _given_back(asked: Ask | None, given_back: int) -> Landing:
    if asked == "cancel":
        return Landing(State.CANCELLED, charged=False)
    if asked == "pause":
        return Landing(State.PAUSED, charged=False)
    if given_back + 1 >= MAX_GIVEN_BACK:
        return Landing(State.FAILED, charged=False)
    return Landing(State.PENDING, charged=False)


def _charged(asked: Ask | None, attempts: int, max_attempts: int) -> Landing:
    if asked == "cancel":
        return Landing(State.CANCELLED)
    if attempts >= max_attempts:
        return Landing(State.FAILED)
    return Landing(State.PAUSED if asked == "pause" else State.PENDING)


def check_prunable(older_than: float) -> None:
    """Refuse to forget ids within a day, so that a repeated push stays harmless."""
    if not older_than >= YOUNGEST_PRUNED:
        raise InvalidMessage(
            "older_than",
            f"must be at least {YOUNGEST_PRUNED:,.0f} s (a day), got {older_than:g}: "
            "ids must stay known so that a repeated push is harmless",
        )


# What an operator's act makes of a job; processing jobs are only asked, their worker decides.
_ACTS: Final[dict[tuple[State, Act], State]] = {
    (State.PENDING, Act.PAUSE): State.PAUSED,
    (State.PENDING, Act.CANCEL): State.CANCELLED,
    (State.PROCESSING, Act.PAUSE): State.PROCESSING,
    (State.PROCESSING, Act.CANCEL): State.PROCESSING,
    (State.PAUSED, Act.RESUME): State.PENDING,
    (State.PAUSED, Act.CANCEL): State.CANCELLED,
    **{(state, Act.RETRY): State.PENDING for state in TERMINAL},
}


def act(state: State, verb: Act, job_id: str) -> State:
    """The state after an operator's act, or `NotAllowed` with the reason."""
    if verb is Act.DELETE:
        if state is not State.PROCESSING:
            return state
    elif (after := _ACTS.get((state, verb))) is not None:
        return after
    raise NotAllowed(f"job {job_id!r} is {state}: {_HINTS[verb]}")


_HINTS: Final = {
    Act.CANCEL: "only pending, processing and paused jobs can be cancelled",
    Act.PAUSE: "only pending and processing jobs can be paused",
    Act.RESUME: "only paused jobs can be resumed",
    Act.RETRY: "only completed, failed and cancelled jobs can be retried",
    Act.DELETE: "cancel it first, a job cannot be deleted while it runs",
}
