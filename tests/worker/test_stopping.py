"""Timeouts, cancels, pauses and drains."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING

import pytest

from ferryman import Ferry, Job, Retry, Settings, State
from ferryman.testing import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman import Worker


@pytest.fixture
def gate() -> threading.Event:
    return threading.Event()


def test_a_thread_over_its_timeout_is_disowned_and_its_slot_replaced(
    ferry: Ferry, work: Callable[..., Worker], gate: threading.Event
) -> None:
    @ferry.task(timeout=0.1, retry=Retry(1))
    def hangs() -> str:
        gate.wait(10)
        return "too late"

    @ferry.task()
    def quick() -> str:
        return "done"

    work(1)
    hanging = hangs.push()
    job = hanging.wait(5)
    assert (job.state, job.errors[0].kind) == (State.FAILED, "timeout")
    assert quick.push().result(5) == "done"
    gate.set()
    assert quick.push().result(5) == "done"
    assert hanging.job().result is None


def test_an_async_handler_over_its_timeout_is_cancelled(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    cancelled = threading.Event()

    @ferry.task(timeout=0.1, retry=Retry(1))
    async def hangs() -> None:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    work(1)
    job = hangs.push().wait(5)
    assert (job.state, job.errors[0].kind) == (State.FAILED, "timeout")
    assert cancelled.wait(5)


def test_a_cancel_reaches_the_handler_with_the_next_heartbeat(
    ferry: Ferry, work: Callable[..., Worker], gate: threading.Event
) -> None:
    @ferry.task()
    def loops(job: Job) -> None:
        gate.set()
        while True:
            job.progress(1)
            time.sleep(0.005)

    work(lease=0.3)
    handle = loops.push()
    assert gate.wait(5)
    ferry.backend.cancel([handle.id])
    job = handle.wait(5)
    assert (job.state, job.attempts, job.errors) == (State.CANCELLED, 0, ())


def test_a_cancel_interrupts_an_async_handler(
    ferry: Ferry, work: Callable[..., Worker], gate: threading.Event
) -> None:
    @ferry.task()
    async def sleeps() -> None:
        gate.set()
        await asyncio.sleep(30)

    work(lease=0.3)
    handle = sleeps.push()
    assert gate.wait(5)
    ferry.backend.cancel([handle.id])
    assert handle.wait(5).state is State.CANCELLED


def test_a_paused_job_keeps_its_checkpoint_and_resumes_from_it(
    ferry: Ferry, work: Callable[..., Worker], gate: threading.Event
) -> None:
    @ferry.task()
    def counts(job: Job) -> str:
        start = job.checkpoint() or 0
        if start:
            return f"resumed at {start}, attempt {job.attempts}"
        gate.set()
        wait_until(lambda: job.cancelled, what="the pause")
        job.checkpoint(5)
        return "never"

    work(lease=0.3)
    handle = counts.push()
    assert gate.wait(5)
    ferry.backend.pause([handle.id])
    job = wait_until(lambda: (j := handle.job()).state is State.PAUSED and j, what="paused")
    assert isinstance(job, Job)
    assert (job.attempts, job.stored_checkpoint) == (0, "5")
    ferry.backend.resume([handle.id])
    assert handle.result(5) == "resumed at 5, attempt 1"


def test_a_drain_lets_running_jobs_finish(ferry: Ferry, gate: threading.Event) -> None:
    @ferry.task()
    def short() -> str:
        gate.set()
        time.sleep(0.2)
        return "finished"

    worker = ferry.worker({"default": 1}, Settings(lease=1.0, drain=5.0))
    worker.start()
    handle = short.push()
    assert gate.wait(5)
    worker.join()
    assert handle.job().state is State.COMPLETED


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_drain_gives_back_what_does_not_finish_within_the_grace_time(
    ferry: Ferry, gate: threading.Event, kind: str
) -> None:
    release = threading.Event()

    @ferry.task()
    def long() -> None:
        gate.set()
        release.wait(10)

    @ferry.task()
    async def along() -> None:
        gate.set()
        await asyncio.sleep(10)

    worker = ferry.worker({"default": 1}, Settings(lease=5.0, drain=0.5))
    worker.start()
    handles = [(long if kind == "def" else along).push() for _ in range(5)]
    assert gate.wait(5)
    started = time.monotonic()
    worker.join()
    assert time.monotonic() - started < 1.5
    jobs = [handle.job() for handle in handles]
    release.set()
    assert [(j.state, j.attempts, j.error) for j in jobs] == [(State.PENDING, 0, None)] * 5


def test_slots_bound_what_runs_at_once_also_when_def_and_async_share_a_queue(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    lock = threading.Lock()
    running, most = 0, 0

    def enter(step: int) -> None:
        nonlocal running, most
        with lock:
            running += step
            most = max(most, running)

    @ferry.task()
    def sync() -> None:
        enter(1)
        time.sleep(0.01)
        enter(-1)

    @ferry.task()
    async def asynchronous() -> None:
        enter(1)
        await asyncio.sleep(0.01)
        enter(-1)

    handles = [task.push() for _ in range(20) for task in (sync, asynchronous)]
    work(3)
    for handle in handles:
        handle.result(10)
    assert most == 3


def test_a_hundred_async_jobs_wait_at_the_same_time(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    @ferry.task()
    async def waits() -> None:
        await asyncio.sleep(0.2)

    handles = waits.push_many([()] * 100)
    started = time.monotonic()
    work(100)
    for handle in handles:
        handle.wait(10)
    assert time.monotonic() - started < 5


def test_hooks_run_around_the_work_and_a_broken_one_stops_the_start(ferry: Ferry) -> None:
    seen: list[str] = []
    ferry.on_start(lambda: seen.append("start"))
    ferry.on_stop(lambda: seen.append("stop"))

    @ferry.task()
    def task() -> None:
        seen.append("job")

    worker = ferry.worker({"default": 1}, Settings(lease=1.0))
    worker.start()
    task.push().wait(5)
    worker.join()
    assert seen == ["start", "job", "stop"]

    @ferry.on_start
    def broken() -> None:
        raise RuntimeError("no database")

    with pytest.raises(RuntimeError, match="no database"):
        ferry.worker({"default": 1}).run()


def test_claims_stuck_behind_a_job_that_turned_out_slow_are_given_back(
    ferry: Ferry, work: Callable[..., Worker], gate: threading.Event
) -> None:
    @ferry.task()
    def job(slow: bool) -> None:
        if slow:
            gate.wait(20)

    work(1, lease=30.0)
    for handle in job.push_many([False] * 200):
        handle.wait(10)
    job.push_many([True] + [False] * 50)
    waiting = wait_until(
        lambda: (s := ferry.backend.snapshot()).count(State.PROCESSING) == 1 and s,
        what="all but the running one to be pending again",
    )
    gate.set()
    assert waiting.count(State.PENDING) == 50  # type: ignore[union-attr]
