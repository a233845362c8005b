"""A handler that blocks the event loop is shown; one that awaits is left alone."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest

from ferryman.events import Event, Events
from ferryman.testing import wait_until
from ferryman.worker.event_loop import EventLoopThread
from ferryman.worker.loop_watchdog import LoopWatchdog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ferryman import Ferry, Worker


@pytest.fixture
def url() -> str:
    return "memory://"


def test_a_blocked_loop_is_told_once_with_its_job_and_stack_and_then_that_it_is_free(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    blocked: list[Event] = []
    freed: list[Event] = []
    ferry.on("loop.blocked")(blocked.append)
    ferry.on("loop.freed")(freed.append)
    gate = threading.Event()

    def deep_down() -> None:
        gate.wait(20)

    @ferry.task()
    async def block() -> str:
        deep_down()
        return "done"

    worker = work(loop_patience=0.2)
    for blockage in (1, 2):
        gate.clear()
        handle = block.push()
        wait_until(lambda n=blockage: len(blocked) == n, what="loop.blocked")  # type: ignore[misc]
        gate.set()
        assert handle.result(20) == "done"
        wait_until(lambda n=blockage: len(freed) == n, what="loop.freed")  # type: ignore[misc]
        told = blocked[-1]
        assert told["job"].id == handle.id
        assert told["worker"] == freed[-1]["worker"] == worker.id
        assert freed[-1]["seconds"] >= told["seconds"] >= 0.2
        assert told["where"].startswith(__file__)
        assert told["where"].endswith("in deep_down")
        lines = told["stack"].splitlines()
        assert "in block" in lines[0]
        assert "in wait" in lines[-2]
        assert "asyncio" not in told["stack"]


class Watched:
    """A watchdog whose turns are taken by hand."""

    def __init__(self, patience: float) -> None:
        self.told: list[Event] = []
        events = Events()
        events.subscribe("*", self.told.append)
        self.loop = EventLoopThread()
        self.dog = LoopWatchdog(
            self.loop,
            "w1",
            patience=patience,
            job_of=lambda _: None,
            events=events,
            died=lambda *_: None,
        )

    def begin(self, coroutine: Callable[[], Any]) -> None:
        started = threading.Event()
        self.loop.submit(coroutine, lambda _: started.set())
        assert started.wait(20)


@pytest.fixture
def watched() -> Iterator[Watched]:
    watched = Watched(patience=40.0)
    yield watched
    watched.loop.stop(20)


def test_it_sleeps_while_no_coroutine_runs(watched: Watched) -> None:
    assert watched.dog.turn() == 60.0

    async def nothing() -> None: ...

    watched.begin(nothing)
    wait_until(lambda: watched.loop.in_use is None, what="the end of the coroutine")
    assert watched.dog.turn() == 60.0
    assert watched.dog.turn() == 60.0


def test_it_wakes_up_when_a_coroutine_begins(watched: Watched) -> None:
    watched.dog.start()
    wait_until(lambda: watched.dog._asleep, what="it to sleep")

    async def wait() -> None:
        await asyncio.Event().wait()

    watched.begin(wait)
    wait_until(lambda: watched.dog._knock is not None, what="a knock")
    watched.dog.stop(20)
    assert watched.told == []


def test_a_loop_that_answers_is_asked_four_times_within_its_patience(watched: Watched) -> None:
    async def wait() -> None:
        await asyncio.Event().wait()

    watched.begin(wait)
    for _ in range(3):
        wait_until(lambda: watched.dog.turn() == 10.0, what="the next knock")
    assert watched.told == []
