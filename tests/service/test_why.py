"""Why nothing starts, and how many workers would help: told by the store alone, without the app."""

from __future__ import annotations

import re
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from ferryman import Ferry, State
from ferryman.message import Message
from ferryman.service.insights import Insights
from ferryman.service.scale import scale
from ferryman.service.why import why
from ferryman.testing.waiting import wait_until
from tests.worker.conftest import url, work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ferryman import Worker

__all__ = ["url", "work"]

QUEUE = "default"


@pytest.fixture
def ferry(url: str) -> Iterator[Ferry]:
    with Ferry(url, lease=1.0) as ferry:
        yield ferry


@pytest.fixture
def held() -> Iterator[threading.Event]:
    """What handlers wait for; set at the end of the test at the latest."""
    event = threading.Event()
    yield event
    event.set()


def reasons(ferry: Ferry, queue: str = QUEUE) -> dict[str, str]:
    insights = Insights(ferry.backend)
    return {one.reason: one.text for one in why(insights, insights.queue(queue))}


def await_reasons(ferry: Ferry, *names: str, queue: str = QUEUE) -> dict[str, str]:
    """Until these, and no others, are told."""
    seen: dict[str, str] = {}

    def told() -> bool:
        # What was seen then is kept: a worker may claim the job, and give it back, meanwhile.
        seen.clear()
        seen.update(reasons(ferry, queue))
        return seen.keys() == {*names}

    wait_until(told, what=f"the reasons {names}")
    return seen


def wanted(ferry: Ferry, slots: int = 4) -> int:
    return scale(Insights(ferry.backend), QUEUE, slots).wanted


def done(ferry: Ferry, number: int) -> None:
    wait_until(
        lambda: ferry.backend.snapshot().count(State.COMPLETED) == number,
        what=f"{number} jobs to complete",
    )


def test_a_queue_that_is_worked_off_has_no_reason(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    ferry.task(name="send", rate="100/h", needs=["smtp"], concurrency=5)(lambda: None)
    ferry.push("send")
    work()
    done(ferry, 1)
    assert reasons(ferry) == {}


def test_a_paused_queue_says_so_and_nothing_else(ferry: Ferry) -> None:
    ferry.push("send", queue=QUEUE)
    ferry.backend.pause_queue(QUEUE)
    assert reasons(ferry).keys() == {"paused"}
    assert wanted(ferry) == 0


def test_a_queue_without_workers_says_so(ferry: Ferry) -> None:
    ferry.push("send", queue=QUEUE)
    assert reasons(ferry).keys() == {"no_workers"}


def test_a_spent_rate_is_named_with_its_next_grant(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    ferry.task(name="send", rate="2/h")(lambda: None)
    for _ in range(6):
        ferry.push("send")
    work()
    done(ferry, 2)
    told = await_reasons(ferry, "rate")["rate"]
    assert "0 of 2/h left" in told
    assert re.search(r"the next grant comes in 6[01] min$", told)
    assert wanted(ferry) == 0


def test_a_rate_that_tasks_share_is_named_with_the_task(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    ferry.rate("gemini", "1/h")
    ferry.task(name="ask", rate="gemini")(lambda: None)
    ferry.push("ask")
    ferry.push("ask")
    work()
    done(ferry, 1)
    told = await_reasons(ferry, "rate")["rate"]
    assert told.startswith("rate gemini is spent")
    assert told.endswith("(task ask)")


def test_a_rate_that_gives_again_within_a_minute_still_wants_workers(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    ferry.task(name="send", rate="2/30s")(lambda: None)
    for _ in range(9):
        ferry.push("send")
    work()
    done(ferry, 2)
    await_reasons(ferry, "rate")
    assert wanted(ferry) == 2


def test_an_open_breaker_is_named_with_the_task_that_needs_it(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    ferry.breaker("bank", threshold=1, cooldown=600)

    @ferry.task(name="pay", needs=["bank"])
    def pay() -> None:
        raise ConnectionError("no answer")

    with suppress(ConnectionError), ferry.breaker("other", threshold=1, cooldown=600):
        raise ConnectionError("what nobody here needs")
    ferry.push("pay")
    ferry.push("pay")
    work()
    told = await_reasons(ferry, "breaker")["breaker"]
    assert told == "breaker bank is open (task pay)"
    assert wanted(ferry) == 0


def test_a_task_that_no_worker_knows_is_named(ferry: Ferry, work: Callable[..., Worker]) -> None:
    ferry.push("letter", queue=QUEUE)
    work()
    told = await_reasons(ferry, "unknown_task")["unknown_task"]
    assert told == "no worker of this queue knows the task letter"
    # Given back, it is due later: that is not why it does not run.
    wait_until(lambda: ferry.backend.snapshot().queues[QUEUE].scheduled, what="it to be given back")
    await_reasons(ferry, "unknown_task")


def test_a_version_that_no_worker_knows_is_named(ferry: Ferry, work: Callable[..., Worker]) -> None:
    ferry.task(name="send", version=2)(lambda: None)
    ferry.backend.push([Message.of(QUEUE, "send", None, version=3)])
    work()
    told = await_reasons(ferry, "unknown_task")["unknown_task"]
    assert "version 3 of the task send" in told


def test_jobs_for_later_are_told_apart_from_what_nobody_knows(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    ferry.task(name="send")(lambda: None)
    ferry.push("send", delay=600)
    work()
    assert await_reasons(ferry, "scheduled")["scheduled"].startswith("all 1 pending jobs")
    ferry.push("letter", queue=QUEUE)
    await_reasons(ferry, "unknown_task", "scheduled")


def test_paused_jobs_are_told(ferry: Ferry) -> None:
    ferry.backend.pause([ferry.push("send", queue=QUEUE).id])
    assert reasons(ferry).keys() == {"held"}


def test_a_concurrency_limit_that_is_reached_is_named(
    ferry: Ferry, work: Callable[..., Worker], held: threading.Event
) -> None:
    ferry.task(name="send", concurrency=1)(lambda: bool(held.wait(20)))
    for _ in range(5):
        ferry.push("send")
    work(3)
    wait_until(lambda: ferry.backend.snapshot().count(State.PROCESSING), what="a job to run")
    told = await_reasons(ferry, "concurrency")["concurrency"]
    assert told == "1 of at most 1 jobs run at once (task send)"
    assert wanted(ferry) == 1


def test_the_limit_of_a_queue_is_named_too(
    ferry: Ferry, work: Callable[..., Worker], held: threading.Event
) -> None:
    ferry.limit(QUEUE, concurrency=2)
    ferry.task(name="send")(lambda: bool(held.wait(20)))
    for _ in range(5):
        ferry.push("send")
    work(3)
    told = await_reasons(ferry, "concurrency")["concurrency"]
    assert told == "2 of at most 2 jobs run at once"


def test_busy_slots_are_told(
    ferry: Ferry, work: Callable[..., Worker], held: threading.Event
) -> None:
    ferry.task(name="send")(lambda: bool(held.wait(20)))
    for _ in range(3):
        ferry.push("send")
    work(1)
    assert "all 1 slots are busy" in await_reasons(ferry, "busy")["busy"]
    assert wanted(ferry) == 3


def test_a_next_queue_that_is_full_is_named(ferry: Ferry, work: Callable[..., Worker]) -> None:
    ferry.limit("rating", capacity=2)
    ferry.task(name="fetch", feeds=["rating"])(lambda: None)
    for _ in range(2):
        ferry.push("rate", queue="rating")
    ferry.push("fetch")
    work()
    told = await_reasons(ferry, "full")["full"]
    assert told.startswith("queue rating, which comes next, is full: 2 jobs may wait there")
    assert wanted(ferry) == 0


def test_the_next_stage_of_a_pipeline_that_is_full_is_named(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    ferry.limit("rating", capacity=1)
    fetch = ferry.task(name="fetch")(_same)
    rate = ferry.task(name="rate", queue="rating")(_same)
    pipeline = ferry.pipeline("gazette", fetch >> rate)
    pipeline.push(1)
    work()
    wait_until(
        lambda: ferry.backend.snapshot().count(State.PENDING, "rating"), what="the hand-over"
    )
    pipeline.push(2)
    await_reasons(ferry, "full")


def test_a_queue_that_nobody_has_heard_of_wants_no_workers(ferry: Ferry) -> None:
    found = scale(Insights(ferry.backend), "nowhere")
    assert (found.ready, found.running, found.slots, found.wanted) == (0, 0, 4, 0)


def test_without_workers_the_slots_of_one_are_assumed(ferry: Ferry) -> None:
    for _ in range(9):
        ferry.push("send", queue=QUEUE)
    assert [wanted(ferry), wanted(ferry, 1), wanted(ferry, 100)] == [3, 9, 1]


def test_a_spent_rate_wants_no_workers_also_when_none_is_left(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    ferry.task(name="send", rate="1/h")(lambda: None)
    for _ in range(4):
        ferry.push("send")
    worker = work()
    done(ferry, 1)
    worker.join()
    assert reasons(ferry).keys() == {"no_workers"}
    assert wanted(ferry) == 0


def test_a_task_without_limits_wants_workers_beside_one_that_is_held_back(
    ferry: Ferry, work: Callable[..., Worker], held: threading.Event
) -> None:
    ferry.task(name="send", rate="1/h")(lambda: None)
    ferry.task(name="wait")(lambda: bool(held.wait(20)))
    for task in ("send", "send", "wait", "wait"):
        ferry.push(task)
    work()
    done(ferry, 1)
    await_reasons(ferry, "rate", "busy")
    assert wanted(ferry) == 2


def _same(number: int) -> int:
    return number
