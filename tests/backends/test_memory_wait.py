"""Waiting is woken, it does not ask again and again."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from ferryman.backends.memory import MemoryBackend
from ferryman.clock import SystemClock
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.settlement import Settlement
from ferryman.testing.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE = 30.0


class CountingClock(SystemClock):
    """Counts how often the store looks at the time."""

    def __init__(self) -> None:
        self.readings = 0

    def now(self) -> float:
        self.readings += 1
        return super().now()


@pytest.fixture
def clock() -> CountingClock:
    return CountingClock()


@pytest.fixture
def backend(clock: CountingClock) -> MemoryBackend:
    return MemoryBackend(clock)


def message(**options: Any) -> Message:
    return Message(**{"queue": "mail", "task": "send", "id": "a", **options})


def _push(backend: MemoryBackend) -> None:
    backend.push([message()])


def _resume(backend: MemoryBackend) -> None:
    backend.resume(["paused"])


def _retry(backend: MemoryBackend) -> None:
    backend.retry(["cancelled"])


def _resume_queue(backend: MemoryBackend) -> None:
    backend.push([message(queue="closed")])
    backend.resume_queue("closed")


def _give_back(backend: MemoryBackend) -> None:
    backend.settle([Settlement("held", 1, "ann", "held", Verdict.GIVE_BACK)])


def _lose_the_reply(backend: MemoryBackend) -> None:
    backend.heartbeat("ann", [], lease=60, answered=5)


def _hand_over(backend: MemoryBackend) -> None:
    backend.settle([Settlement("held", 1, "ann", "held", Verdict.ACK, children=(message(),))])


def _replace(backend: MemoryBackend) -> None:
    backend.push([message(id="later", queue="later", body="1", replace=True)])


@pytest.mark.parametrize(
    "act",
    [_push, _resume, _retry, _resume_queue, _give_back, _lose_the_reply, _hand_over, _replace],
)
def test_a_waiting_worker_is_woken(
    backend: MemoryBackend, clock: CountingClock, act: Callable[[MemoryBackend], None]
) -> None:
    backend.push(
        [
            message(id="paused"),
            message(id="cancelled"),
            message(id="later", queue="later", delay=500),
            message(id="held", queue="held"),
        ]
    )
    backend.pause(["paused"])
    backend.cancel(["cancelled"])
    backend.pause_queue("closed")
    backend.poll("ann", {"held": 1}, lease=60, turn=5)
    started = time.monotonic()
    readings = clock.readings
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(backend.wait, ["mail", "closed", "later", "held"], PATIENCE)
        wait_until(lambda: clock.readings > readings, what="the worker to wait")
        act(backend)
        assert waiting.result(PATIENCE) is True
    assert time.monotonic() - started < PATIENCE / 2


def test_a_job_that_is_due_is_not_waited_for(backend: MemoryBackend) -> None:
    backend.push([message()])
    assert backend.wait(["other", "mail"], PATIENCE) is True


def test_a_scheduled_job_ends_the_wait_when_it_is_due_and_not_before(
    backend: MemoryBackend, clock: CountingClock
) -> None:
    backend.push([message(delay=0.2), message(id="b", delay=900)])
    due = backend.get("a")
    assert due is not None
    assert backend.wait(["mail"], PATIENCE) is True
    assert due.ready_at <= clock.now() < due.ready_at + PATIENCE / 2


def test_waiting_in_vain_ends_in_time(backend: MemoryBackend) -> None:
    backend.push([message(queue="other"), message(id="b", delay=900)])
    started = time.monotonic()
    assert backend.wait(["mail", "nowhere"], 0.1) is False
    assert time.monotonic() - started >= 0.1


def test_a_paused_queue_is_not_worth_waking_for(backend: MemoryBackend) -> None:
    backend.pause_queue("mail")
    backend.push([message()])
    assert backend.wait(["mail"], 0) is False


def test_waiting_does_not_ask_again_and_again(backend: MemoryBackend, clock: CountingClock) -> None:
    backend.push([message(delay=900)])
    readings = clock.readings
    assert backend.wait(["mail"], 0.3) is False
    assert clock.readings - readings <= 3


def test_a_wake_ends_a_wait_for_nothing(backend: MemoryBackend, clock: CountingClock) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(backend.wait, ["mail"], PATIENCE)
        wait_until(lambda: clock.readings, what="the worker to wait")
        backend.wake()
        assert waiting.result(PATIENCE / 2) is False


def test_a_wake_does_not_end_later_waits(backend: MemoryBackend) -> None:
    backend.wake()
    started = time.monotonic()
    assert backend.wait(["mail"], 0.05) is False
    assert time.monotonic() - started >= 0.05
