"""Handlers that take several jobs in one call."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest

from ferryman import Fail, Ferry, Job, Message, Retry, Snooze, State, TaskError
from ferryman.testing import FakeClock, drain, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman import Worker


def test_jobs_that_wait_are_run_in_one_call_and_each_has_its_result(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    sizes: list[int] = []

    @ferry.task(batch=10)
    def double(numbers: list[int]) -> list[int]:
        sizes.append(len(numbers))
        return [number * 2 for number in numbers]

    handles = double.push_many(range(40))
    work()
    assert [handle.result(10) for handle in handles] == [*range(0, 80, 2)]
    assert max(sizes) == 10
    assert len(sizes) < 10


def test_several_parameters_are_lists_of_equal_length_and_the_jobs_come_along(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    @ferry.task(batch=5)
    def join(left: list[str], right: list[str], jobs: list[Job]) -> list[str]:
        return [f"{a}{b}{len(j.id) > 0}" for a, b, j in zip(left, right, jobs, strict=True)]

    work()
    assert ferry.push("join", {"left": "a", "right": "b"}).result(10) == "abTrue"


def test_an_async_handler_takes_batches_too(ferry: Ferry, work: Callable[..., Worker]) -> None:
    sizes: list[int] = []

    @ferry.task(batch=10)
    async def double(numbers: list[int]) -> list[int]:
        sizes.append(len(numbers))
        return [number * 2 for number in numbers]

    handles = double.push_many(range(30))
    work()
    assert [handle.result(10) for handle in handles] == [*range(0, 60, 2)]
    assert max(sizes) > 1


def test_each_job_can_have_an_end_of_its_own(ferry: Ferry, work: Callable[..., Worker]) -> None:
    @ferry.task(batch=10, retry=Retry(2, base=0))
    def pick(words: list[str]) -> list[object]:
        ends = {"fail": Fail("no"), "snooze": Snooze(60), "error": ValueError("bad")}
        return [ends.get(word, word) for word in words]

    fine, failed, snoozed, wrong = pick.push_many(["fine", "fail", "snooze", "error"])
    work()
    assert fine.result(10) == "fine"
    assert (failed.wait(10).state, failed.job().error) == (State.FAILED, "no")
    assert wrong.wait(10).attempts == 2
    assert wrong.job().error == "ValueError: bad"
    wait_until(lambda: snoozed.job().given_back == 1, what="the snooze")


def test_what_it_raises_is_the_end_of_all(ferry: Ferry, work: Callable[..., Worker]) -> None:
    @ferry.task(batch=3, retry=Retry(1))
    def broken(words: list[str]) -> None:
        raise ValueError("no such page")

    handles = broken.push_many(["a", "b", "c"])
    work()
    assert [handle.wait(10).state for handle in handles] == [State.FAILED] * 3
    assert {handle.job().error for handle in handles} == {"ValueError: no such page"}


def test_a_list_of_another_length_fails_all_with_a_reason(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    @ferry.task(batch=3)
    def short(words: list[str]) -> list[str]:
        return [*words, "one more"]

    handle = short.push("a")
    work()
    assert handle.wait(10).state is State.FAILED
    assert "2 values: return None or a list of 1" in (handle.job().error or "")


def test_a_payload_that_does_not_fit_fails_alone(ferry: Ferry, work: Callable[..., Worker]) -> None:
    @ferry.task(batch=3)
    def double(numbers: list[int]) -> list[int]:
        return [number * 2 for number in numbers]

    misfit, fit = ferry.carry(
        [Message.of("default", "double", "three"), Message.of("default", "double", 3)]
    )
    work()
    assert fit.result(10) == 6
    assert "does not fit" in (misfit.wait(10).error or "")


def test_a_batch_takes_one_slot(ferry: Ferry, work: Callable[..., Worker]) -> None:
    both = threading.Barrier(2, timeout=20)

    @ferry.task(batch=5)
    def meet(numbers: list[int]) -> None:
        both.wait()

    handles = meet.push_many(range(10))
    work(2)
    assert {handle.wait(20).state for handle in handles} == {State.COMPLETED}


def test_a_batch_that_hangs_is_charged_and_its_slot_replaced(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    go = threading.Event()

    @ferry.task(batch=3, timeout=0.3, retry=Retry(1))
    def hang(numbers: list[int]) -> None:
        if 0 in numbers:
            go.wait(30)

    handles = hang.push_many([0, 1, 2])
    try:
        work()
        assert {handle.wait(20).state for handle in handles} == {State.FAILED}
        assert hang.push(7).wait(20).state is State.COMPLETED
    finally:
        go.set()


def test_batches_keep_the_rate_of_their_task(ferry: Ferry, work: Callable[..., Worker]) -> None:
    ran: list[int] = []

    @ferry.task(batch=10, rate="4/h")
    def note(numbers: list[int]) -> None:
        ran.extend(numbers)

    note.push_many(range(10))
    work()
    wait_until(lambda: len(ran) == 4, what="four of ten")
    assert ferry.flow.rate("task:note").left() == {"4/h": 0}


def test_a_drain_in_a_test_runs_batches_of_one() -> None:
    with Ferry("memory://", clock=FakeClock()) as ferry:

        @ferry.task(batch=10)
        def double(numbers: list[int]) -> list[int]:
            return [number * 2 for number in numbers]

        handle = double.push(4)
        assert drain(ferry)[State.COMPLETED] == 1
        assert handle.result() == 8


def test_a_parameter_that_is_no_list_is_refused_at_the_push(ferry: Ferry) -> None:
    @ferry.task(batch=2)
    def odd(number: int) -> None: ...

    with pytest.raises(TaskError, match="its parameter number must be a list"):
        odd.push(1)


@pytest.mark.parametrize("options", [{"batch": 0}, {"batch": 2, "executor": "process"}])
def test_batches_that_make_no_sense_are_refused(ferry: Ferry, options: dict[str, object]) -> None:
    with pytest.raises(TaskError, match="batch"):
        ferry.task(**options)(drain)  # type: ignore[call-overload]


@pytest.mark.parametrize("how", ["def", "async def"])
def test_a_job_that_is_cancelled_in_a_batch_costs_the_others_no_attempt(
    ferry: Ferry, work: Callable[..., Worker], how: str
) -> None:
    begun, ran = threading.Event(), list[list[int]]()

    def note(numbers: list[int]) -> bool:
        ran.append(numbers)
        begun.set()
        return 0 in numbers

    if how == "def":

        @ferry.task(name="pick", batch=3, retry=Retry(1))
        def pick(numbers: list[int], jobs: list[Job]) -> list[int]:
            while note(numbers):
                for job in jobs:
                    job.progress(50)
                threading.Event().wait(0.01)
            return numbers
    else:

        @ferry.task(name="pick", batch=3, retry=Retry(1))
        async def apick(numbers: list[int]) -> list[int]:
            if note(numbers):
                await asyncio.sleep(60)
            return numbers

    handles = [ferry.push("pick", number) for number in range(3)]
    work(lease=0.5)
    assert begun.wait(20)
    ferry.backend.cancel([handles[0].id])
    assert handles[0].wait(20).state is State.CANCELLED
    assert [handle.result(20) for handle in handles[1:]] == [1, 2]
    assert len(ran[0]) == 3


def test_a_call_that_fails_counts_once_for_a_breaker_however_many_jobs_it_has(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    ferry.breaker("service", threshold=3)

    @ferry.task(batch=10, needs=["service"])
    def broken(words: list[str]) -> None:
        raise ConnectionError("no answer")

    handles = broken.using(delay=0).push_many(["a", "b", "c", "d", "e"])
    worker = ferry.worker({"default": 1})
    worker.run_batch(5)
    assert ferry.breaker("service").circuit().failures == 1
    assert {(h.status(), h.job().attempts) for h in handles} == {(State.PENDING, 0)}
