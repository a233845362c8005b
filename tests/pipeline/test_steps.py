"""Durable steps: done once across attempts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pydantic import BaseModel

from ferryman import Ferry, InvalidMessage, Job, Retry, State
from ferryman.testing import FakeClock, drain

if TYPE_CHECKING:
    from collections.abc import Callable


class Receipt(BaseModel):
    number: int


def test_a_step_that_is_done_is_not_done_again(every: Ferry, clock: FakeClock) -> None:
    done: list[str] = []

    def doing(name: str) -> Callable[[], str]:
        def work() -> str:
            done.append(name)
            return name.upper()

        return work

    @every.task(retry=Retry(3, base=1, jitter=0))
    def order(n: int, job: Job) -> list[str]:
        results = [job.step("charge", doing("charge"))]
        if job.attempts == 1:
            raise ConnectionError("before the second step")
        results.append(job.step("ship", doing("ship")))
        if job.attempts == 2:
            raise ConnectionError("after it")
        return results

    handle = order.push(1)
    for _ in range(3):
        drain(every)
        clock.advance(5)
    assert done == ["charge", "ship"]
    assert handle.result(0) == ["CHARGE", "SHIP"]


def test_a_step_comes_to_the_same_in_every_attempt(ferry: Ferry, clock: FakeClock) -> None:
    seen: list[object] = []

    def receipt() -> Receipt:
        return Receipt(number=7)

    @ferry.task(retry=Retry(2, base=1, jitter=0))
    def order(n: int, job: Job) -> None:
        seen.append(job.step("typed", receipt))
        seen.append(job.step("plain", lambda: (1, 2)))
        seen.append(job.step("nothing", lambda: None))
        if job.attempts == 1:
            raise ConnectionError

    order.push(1)
    drain(ferry)
    clock.advance(5)
    drain(ferry)
    assert seen == [Receipt(number=7), [1, 2], None] * 2


def test_a_checkpoint_and_steps_are_kept_side_by_side(ferry: Ferry, clock: FakeClock) -> None:
    seen: list[object] = []

    @ferry.task(retry=Retry(3, base=1, jitter=0))
    def order(n: int, job: Job) -> None:
        seen.append(job.checkpoint())
        job.checkpoint({"page": job.attempts, "$steps": "mine"})
        seen.append(job.step("once", lambda: job.attempts))
        raise ConnectionError

    order.push(1)
    for _ in range(3):
        drain(ferry)
        clock.advance(10)
    assert seen == [
        *(None, 1),
        *({"page": 1, "$steps": "mine"}, 1),
        *({"page": 2, "$steps": "mine"}, 1),
    ]


def test_async_handlers_have_steps_too(ferry: Ferry, clock: FakeClock) -> None:
    done: list[str] = []

    async def charge() -> str:
        done.append("charge")
        return "charged"

    @ferry.task(retry=Retry(2, base=1, jitter=0))
    async def order(n: int, job: Job) -> str:
        result = await job.astep("charge", charge)
        if job.attempts == 1:
            raise ConnectionError
        return result

    handle = order.push(1)
    drain(ferry)
    clock.advance(5)
    drain(ferry)
    assert (done, handle.result(0)) == (["charge"], "charged")


def test_a_step_whose_lease_is_lost_records_nothing(every: Ferry, clock: FakeClock) -> None:
    @every.task(retry=Retry(2, base=0, jitter=0))
    def order(n: int, job: Job) -> int:
        def slow() -> int:
            if job.attempts == 1:
                clock.advance(120)
                every.backend.reap()
            return job.attempts

        return job.step("slow", slow)

    handle = order.push(1)
    drain(every)
    assert (handle.status(), handle.result(0)) == (State.COMPLETED, 2)


@pytest.mark.parametrize("bad", ["", "a\nb", "x" * 201])
def test_a_step_needs_a_proper_name(ferry: Ferry, bad: str) -> None:
    @ferry.task(retry=Retry(1))
    def order(n: int, job: Job) -> None:
        with pytest.raises(InvalidMessage, match="step"):
            job.step(bad, lambda: None)

    handle = order.push(1)
    drain(ferry)
    assert handle.status() is State.COMPLETED
