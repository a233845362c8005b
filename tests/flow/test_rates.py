"""Rates: taken in handlers, and before jobs start."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from ferryman import Ferry, InvalidMessage, Job, Retry, Snooze, State, TaskError
from ferryman.flow.gate import RateGate
from ferryman.testing import FakeClock, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ferryman import Worker


def most_within(moments: list[float], seconds: float) -> int:
    ordered = sorted(moments)
    return max(sum(m <= each < m + seconds for each in ordered) for m in ordered)


def test_take_waits_for_the_next_grant(ferry: Ferry) -> None:
    rate = ferry.rate("gemini", "2/s")
    moments = []
    for _ in range(5):
        rate.take()
        moments.append(time.monotonic())
    assert most_within(moments, 0.8) <= 2
    assert moments[-1] - moments[0] < 10


def test_what_would_take_too_long_is_a_snooze_until_then() -> None:
    with Ferry("memory://", clock=FakeClock()) as ferry:
        rate = ferry.rate("gemini", ["15/m", "500/d"])
        rate.take(15)
        with pytest.raises(Snooze, match="'gemini' is spent") as told:
            rate.take()
        assert 60 <= told.value.seconds < 61


def test_a_handler_that_finds_the_day_spent_is_run_again_the_next_day_uncharged(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    rate = ferry.rate("gemini", "1/d", zone="America/Sao_Paulo")

    @ferry.task()
    def ask() -> str:
        rate.take()
        return "ok"

    work()
    assert ask.push().result(10) == "ok"
    late = ask.push()
    job = wait_until(lambda: (j := late.job()).given_back and j, what="the snooze")
    assert isinstance(job, Job)
    assert (job.attempts, job.state) == (0, State.PENDING)
    assert 0 < job.ready_at - job.created_at <= 86_401


def test_what_matters_less_leaves_grants_to_others() -> None:
    with Ferry("memory://", clock=FakeClock()) as ferry:
        rate = ferry.rate("gemini", ["20/m", "10/d"])
        rate.take(6, leave=4)
        with pytest.raises(Snooze):
            rate.take(leave=4)
        rate.take(4)


def test_a_spent_day_is_spent_after_a_restart_too(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db"
    with Ferry(url) as ferry:
        ferry.rate("gemini", "3/d").take(3)
    with Ferry(url) as ferry:
        assert ferry.rate("gemini", "3/d").left() == {"3/d": 0}


def test_a_rate_that_was_told_to_wait_waits_that_long() -> None:
    clock = FakeClock()
    with Ferry("memory://", clock=clock) as ferry:
        rate = ferry.rate("gemini", "10/s")
        rate.postpone(30)
        rate.postpone(10)
        with pytest.raises(Snooze) as told:
            rate.take()
        assert told.value.seconds == pytest.approx(30)
        clock.advance(30)
        rate.take()


@pytest.mark.parametrize("wrong", [{"count": 0}, {"count": 3}, {"leave": 2}, {"wait": -1}])
def test_what_can_never_be_taken_is_refused(ferry: Ferry, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidMessage, match=next(iter(wrong))):
        ferry.rate("gemini", "2/s").take(**wrong)


def test_a_rate_that_nobody_declared_is_refused(ferry: Ferry) -> None:
    with pytest.raises(TaskError, match="not declared"):
        ferry.rate("gemini").take()
    ferry.task(rate="gemini")(lambda: None)
    with pytest.raises(TaskError, match="not declared"):
        ferry.worker({"default": 1})


def test_a_zone_that_does_not_exist_is_refused(ferry: Ferry) -> None:
    with pytest.raises(TaskError, match="Sao_Paolo"):
        ferry.rate("gemini", "1/d", zone="America/Sao_Paolo")


def test_an_async_handler_takes_too(ferry: Ferry, work: Callable[..., Worker]) -> None:
    rate = ferry.rate("gemini", "100/s")

    @ferry.task()
    async def ask() -> int:
        await rate.atake(99)
        return rate.tally.quotas[0].count

    work()
    assert ask.push().result(10) == 100
    assert rate.left()["100/s"] <= 100


# -- before jobs start


def test_jobs_of_a_task_start_no_oftener_than_its_rate(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    moments: list[float] = []

    @ferry.task(rate=["5/s"])
    def ask() -> None:
        moments.append(time.monotonic())

    handles = ask.push_many([()] * 12)
    work(4)
    wait_until(lambda: len(moments) == 12, timeout=20, what="all of them")
    assert most_within(moments, 0.8) <= 5
    wait_until(lambda: handles[-1].status() is State.COMPLETED, what="the last")
    assert {handle.job().given_back for handle in handles} <= {0, 1}


def test_two_tasks_share_a_declared_rate(ferry: Ferry, work: Callable[..., Worker]) -> None:
    ferry.rate("gemini", "4/h")
    ran: list[str] = []

    @ferry.task(rate="gemini")
    def one() -> None:
        ran.append("one")

    @ferry.task(rate="gemini")
    def two() -> None:
        ran.append("two")

    one.push_many([()] * 3)
    two.push_many([()] * 3)
    work(2)
    wait_until(lambda: len(ran) == 4, what="four of six")
    assert ferry.rate("gemini").left() == {"4/h": 0}
    assert ferry.backend.snapshot().count(State.COMPLETED) <= 4


def test_a_spent_rate_goes_to_the_most_urgent_first(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    ran: list[str] = []

    @ferry.task(rate="2/d")
    def ask(who: str) -> None:
        ran.append(who)

    ask.push_many(["a", "b", "c"])
    ask.using(priority="high").push_many(["x", "y"])
    work()
    wait_until(lambda: len(ran) == 2, what="two of five")
    assert ran == ["x", "y"]


def test_all_tasks_of_a_queue_count_for_its_rate(ferry: Ferry, work: Callable[..., Worker]) -> None:
    ferry.limit("default", rate="3/h")
    ran: list[int] = []

    @ferry.task()
    def one(number: int) -> None:
        ran.append(number)

    @ferry.task()
    def two(number: int) -> None:
        ran.append(number)

    one.push_many([1, 2])
    two.push_many([3, 4])
    work(4)
    wait_until(lambda: len(ran) == 3, what="three of four")
    rate = ferry.flow.rate("queue:default")
    assert rate.left() == {"3/h": 0}


class Limited(Exception):
    """As an HTTP client raises it."""

    def __init__(self, retry_after: object) -> None:
        super().__init__("429")
        self.response = type("Response", (), {"headers": {"Retry-After": retry_after}})()


def test_a_service_that_says_when_to_come_again_postpones_the_job_exactly_so_long(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    @ferry.task(retry=Retry(1), rate="100/s")
    def ask() -> None:
        raise Limited("120")

    work()
    handle = ask.push()
    job = wait_until(lambda: (j := handle.job()).given_back and j, what="the postponement")
    assert isinstance(job, Job)
    assert (job.state, job.attempts, job.error) == (
        State.PENDING,
        0,
        "tests.flow.test_rates.Limited: 429",
    )
    (error,) = job.errors
    assert 120 <= job.ready_at - error.at < 125
    # Its rate waits as well: the service said it to all.
    assert ferry.flow.rate("task:ask").look()[0] == 0


def test_a_worker_that_found_a_day_spent_sees_what_another_returns() -> None:
    clock = FakeClock()
    with Ferry("memory://", clock=clock) as ferry:
        rate = ferry.rate("gemini", "5/d")
        one, other = (RateGate(rate, lambda _: True) for _ in range(2))
        assert one.reserve(5) == 5
        assert other.look(1) == 0
        one.trim()
        clock.advance(1.1)
        assert other.look(1) == 1
