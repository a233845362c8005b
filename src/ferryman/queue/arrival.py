"""Whole jobs as they arrive in a store that did not make them: checked, and without a worker."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ferryman.errors import InvalidMessage
from ferryman.job import State
from ferryman.lifecycle import MAX_LOG_LINES
from ferryman.message import MAX_ATTEMPTS, Message, check_int, encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.job import Job, JobError

# What every store can count to: SQLite and PostgreSQL keep 63 bits, JSON readers 53.
MAX_COUNT: Final = 2**53 - 1
_TIMES: Final = ("created_at", "started_at", "finished_at", "deadline")
_TEXTS: Final = ("worker", "note", "error")
_LAST_MOMENT: Final = 1e11


def arrive(jobs: Sequence[Job], now: float) -> Sequence[Job]:
    """The jobs as `restore` has to keep them, all but `seq`; or `InvalidMessage`, naming the job.

    None of them is processing any more, and only finished ones have a worker.
    """
    return [_landed(_checked(job), now) for job in jobs]


def as_message(job: Job) -> Message:
    """The message that would make this work; for `Message.same_work`, and it checks the options."""
    return Message(
        queue=job.queue,
        task=job.task,
        body=job.body,
        id=job.id,
        version=job.version,
        priority=job.priority,
        ready_at=job.ready_at,
        key=job.key,
        max_attempts=job.max_attempts,
        backoff=job.backoff,
        timeout=job.timeout,
        correlation_id=job.correlation_id,
        meta=job.meta,
        tenant=job.tenant,
    )


def _checked(job: Job) -> Job:
    try:
        as_message(job)
        for name in ("body", "result", "stored_checkpoint"):
            _check_json(name, getattr(job, name), optional=name != "body")
        _check_counts(job)
        for name in _TIMES:
            _check_moment(name, getattr(job, name), optional=name != "created_at")
        for name in _TEXTS:
            _check_text(name, getattr(job, name), optional=True)
        _check_records(job)
        _check_sense(job)
    except InvalidMessage as refusal:
        raise InvalidMessage(refusal.field, f"{refusal.problem} (job {job.id!r})") from None
    return job


def _landed(job: Job, now: float) -> Job:
    """The job without its claim: whoever held it cannot reach it here."""
    state, attempts, given_back = job.state, job.attempts, job.given_back
    finished_at = job.finished_at
    if state is State.PROCESSING:
        state = {"cancel": State.CANCELLED, "pause": State.PAUSED}.get(
            job.asked or "", State.PENDING
        )
        attempts, given_back = attempts - 1, given_back + 1
        finished_at = now
    return replace(
        job,
        state=state,
        attempts=attempts,
        given_back=given_back,
        finished_at=finished_at if state.terminal else None,
        worker=job.worker if state.terminal else None,
        heartbeat_at=None,
        expires_at=None,
        asked=None,
        error=job.errors[-1].text if job.errors else job.error,
        logs=job.logs[-MAX_LOG_LINES:],
        run=None,
    )


def _check_counts(job: Job) -> None:
    check_int("attempts", job.attempts, 0, min(job.max_attempts, MAX_ATTEMPTS))
    check_int("fence", job.fence, 0, MAX_COUNT)
    check_int("generation", job.generation, 1, MAX_COUNT)
    check_int("given_back", job.given_back, 0, MAX_COUNT - 1)


def _check_sense(job: Job) -> None:
    """Refuse a record that no sequence of verbs could have made."""
    if job.state is State.PROCESSING:
        check_int("attempts", job.attempts, 1, MAX_ATTEMPTS)
        check_int("fence", job.fence, 1, MAX_COUNT)
    if job.state.terminal and job.finished_at is None:
        raise InvalidMessage("finished_at", f"is missing for a job that is {job.state}")


def _check_records(job: Job) -> None:
    if job.percent is not None and not (_is_number(job.percent) and 0 <= job.percent <= 100):
        raise InvalidMessage("percent", f"must be from 0 to 100, got {job.percent!r}")
    for error in job.errors:
        _check_error(error)
    for line in job.logs:
        _check_text("logs.text", line.text)
        _check_moment("logs.at", line.at)


def _check_error(error: JobError) -> None:
    check_int("errors.attempt", error.attempt, 0, MAX_COUNT)
    _check_moment("errors.at", error.at)
    for name in ("kind", "text", "worker", "traceback"):
        optional = name in ("worker", "traceback")
        _check_text(f"errors.{name}", getattr(error, name), optional=optional)


def _check_json(name: str, text: Any, *, optional: bool) -> None:
    if text is None and optional:
        return
    try:
        encode(json.loads(text), name)
    except (TypeError, RecursionError) as error:
        raise InvalidMessage(name, f"is not JSON text: {error}") from None
    except InvalidMessage:
        raise
    except ValueError as error:
        raise InvalidMessage(name, f"is not JSON text: {error}") from None


def _check_moment(name: str, value: Any, *, optional: bool = False) -> None:
    if value is None and optional:
        return
    if not _is_number(value) or not 0 <= value < _LAST_MOMENT:
        raise InvalidMessage(name, f"must be seconds since the epoch, got {value!r}")


def _check_text(name: str, value: Any, *, optional: bool = False) -> None:
    if not (isinstance(value, str) or (optional and value is None)):
        raise InvalidMessage(name, f"must be text, not {type(value).__name__}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
