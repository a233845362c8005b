"""What a handler says is what the job becomes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from ferryman import (
    Backoff,
    Cancel,
    Fail,
    Ferry,
    Job,
    JobCancelled,
    JobFailed,
    Retry,
    Snooze,
    State,
)
from ferryman.testing import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman import Worker


def test_what_a_handler_returns_is_the_result(ferry: Ferry, work: Callable[..., Worker]) -> None:
    @ferry.task()
    def double(number: int) -> int:
        return number * 2

    work()
    assert double.push(21).result(5) == 42


def test_an_async_handler_runs_on_the_loop(ferry: Ferry, work: Callable[..., Worker]) -> None:
    @ferry.task()
    async def double(number: int) -> int:
        await asyncio.sleep(0)
        return number * 2

    work()
    assert double.push(21).result(5) == 42


def test_an_error_is_retried_until_the_attempts_are_used_up(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    @ferry.task(retry=Retry(3, base=0.01))
    def broken() -> None:
        raise ValueError("no such page")

    work()
    job = broken.push().wait(5)
    assert job.state is State.FAILED
    assert job.attempts == 3
    assert [(e.attempt, e.kind, e.text) for e in job.errors] == [
        (n, "ValueError", "ValueError: no such page") for n in (1, 2, 3)
    ]
    assert "raise ValueError" in (job.errors[0].traceback or "")


def test_result_raises_the_last_error_of_a_failed_job(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    @ferry.task(retry=Retry(1))
    def broken() -> None:
        raise ValueError("no such page")

    work()
    with pytest.raises(JobFailed, match="no such page"):
        broken.push().result(5)


@pytest.mark.parametrize("raised", [True, False], ids=["raised", "returned"])
def test_fail_ends_the_job_at_once(ferry: Ferry, work: Callable[..., Worker], raised: bool) -> None:
    @ferry.task()
    def hopeless() -> Fail:
        if raised:
            raise Fail("gone for good")
        return Fail("gone for good")

    work()
    job = hopeless.push().wait(5)
    assert (job.state, job.attempts, job.error) == (State.FAILED, 1, "gone for good")


def test_cancel_ends_the_job_as_cancelled(ferry: Ferry, work: Callable[..., Worker]) -> None:
    @ferry.task()
    def unwanted() -> None:
        raise Cancel("withdrawn")

    work()
    handle = unwanted.push()
    with pytest.raises(JobCancelled, match="withdrawn"):
        handle.result(5)


def test_a_snooze_is_not_charged(ferry: Ferry, work: Callable[..., Worker]) -> None:
    @ferry.task(retry=Retry(1))
    def patient(job: Job) -> int:
        if job.given_back < 3:
            raise Snooze(0.01)
        return job.attempts

    work()
    handle = patient.push()
    assert handle.result(5) == 1
    assert handle.job().given_back == 3


def test_retry_after_waits_as_long_as_the_handler_says(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    @ferry.task()
    def limited() -> None:
        raise Retry(after=3600, reason="429")

    work()
    handle = limited.push()
    job = wait_until(lambda: (j := handle.job()).error and j, what="the retry")
    assert isinstance(job, Job)
    assert job.state is State.PENDING
    assert 3500 < job.ready_at - job.created_at < 3700


def test_rules_by_exception_class_decide(ferry: Ferry, work: Callable[..., Worker]) -> None:
    rules: dict[type[BaseException], Any] = {
        KeyError: Fail,
        OSError: 1000,
        ValueError: Backoff(base=50, jitter=0),
    }

    @ferry.task(retry=Retry(5, rules=rules))
    def picky(kind: str) -> None:
        raise {"key": KeyError, "os": OSError, "value": ValueError}[kind](kind)

    work()
    assert picky.push("key").wait(5).state is State.FAILED
    for kind, delay in (("os", 1000), ("value", 50)):
        handle = picky.push(kind)
        job = wait_until(lambda h=handle: (j := h.job()).error and j, what="the error")  # type: ignore[misc]
        assert abs(job.ready_at - job.created_at - delay) < 5


def test_a_result_that_is_not_json_fails_with_a_reason(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    @ferry.task()
    def odd() -> object:
        return object()

    work()
    job = odd.push().wait(5)
    assert job.state is State.FAILED
    assert "its result cannot be kept" in (job.error or "")


def test_an_unknown_task_is_given_back_uncharged(ferry: Ferry, work: Callable[..., Worker]) -> None:
    @ferry.task()
    def known() -> None: ...

    work()
    handle = ferry.push("unknown", queue="default")
    job = wait_until(lambda: (j := handle.job()).given_back and j, what="the give-back")
    assert isinstance(job, Job)
    assert (job.state, job.attempts) == (State.PENDING, 0)
    assert "no handler for task 'unknown'" in (job.error or "")


def test_a_newer_version_is_given_back_and_an_older_one_is_upcast(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    @ferry.task(version=2)
    def greet(first: str, last: str) -> str:
        return f"{first} {last}"

    @greet.upcaster(1)
    def split(payload: Any) -> Any:
        first, _, last = payload["name"].partition(" ")
        return {"first": first, "last": last}

    from ferryman import Message

    old = Message.of("default", "greet", {"name": "Ada Lovelace"}, version=1)
    new = Message.of("default", "greet", {"full": "Ada"}, version=3)
    older, newer = ferry.carry([old, new])
    work()
    assert older.result(5) == "Ada Lovelace"
    job = wait_until(lambda: (j := newer.job()).given_back and j, what="the give-back")
    assert isinstance(job, Job)
    assert "newer than this worker" in (job.error or "")


def test_a_payload_that_no_longer_fits_fails_at_once(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    from ferryman import Message

    @ferry.task()
    def count(number: int) -> None: ...

    work()
    (handle,) = ferry.carry([Message.of("default", "count", "three")])
    job = handle.wait(5)
    assert job.state is State.FAILED
    assert "payload.number: must be int, not str" in (job.error or "")
