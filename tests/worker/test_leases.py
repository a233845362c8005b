"""A held job stays held, whatever its handler does; a lost one is never recorded."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING

from ferryman import Ferry, Job, LeaseLost, Settings, State
from ferryman.testing import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman import Event, Worker


def test_a_handler_that_blocks_the_event_loop_for_three_leases_keeps_its_lease(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    @ferry.task()
    async def blocks(job: Job) -> int:
        time.sleep(1.8)  # noqa: ASYNC251 - the very mistake under test
        return job.fence

    work(lease=0.6, reap_every=0.05)
    handle = blocks.push()
    assert handle.result(5) == 1
    assert handle.job().errors == ()


def test_a_handler_that_computes_for_three_leases_keeps_its_lease(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    @ferry.task()
    def computes(job: Job) -> int:
        end = time.monotonic() + 1.8
        while time.monotonic() < end:
            sum(range(1000))
        return job.fence

    work(lease=0.6, reap_every=0.05)
    assert computes.push().result(5) == 1


def test_progress_and_logs_are_stored_while_the_handler_runs(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    go_on = threading.Event()

    @ferry.task()
    def talks(job: Job) -> None:
        job.progress(40, "page 40 of 100")
        job.log("found the index")
        go_on.wait(5)

    work()
    handle = talks.push()
    job = wait_until(lambda: (j := handle.job()).percent and j, what="stored progress")
    assert isinstance(job, Job)
    assert (job.percent, job.note, job.state) == (40, "page 40 of 100", State.PROCESSING)
    wait_until(lambda: [line.text for line in handle.job().logs] == ["found the index"])
    go_on.set()
    assert [line.text for line in handle.wait(5).logs] == ["found the index"]


def test_the_last_progress_arrives_with_the_end(ferry: Ferry, work: Callable[..., Worker]) -> None:
    @ferry.task()
    def talks(job: Job) -> None:
        job.progress(99, "nearly")
        job.log("done")

    work()
    job = talks.push().wait(5)
    assert (job.percent, job.note, [line.text for line in job.logs]) == (99, "nearly", ["done"])


def test_a_checkpoint_is_there_in_the_next_attempt(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    from ferryman import Retry

    @ferry.task(retry=Retry(2, base=0.01))
    def resumes(job: Job) -> int:
        done = job.checkpoint()
        if done is None:
            job.checkpoint({"page": 7})
            raise ConnectionError("line cut")
        return int(done["page"])

    work()
    assert resumes.push().result(5) == 7


def test_an_async_handler_saves_checkpoints_without_blocking(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    @ferry.task()
    async def saves(job: Job) -> object:
        await job.acheckpoint({"page": 3})
        return job.checkpoint()

    work()
    assert saves.push().result(5) == {"page": 3}


def test_a_blocking_verb_on_the_event_loop_is_refused_by_name(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    @ferry.task()
    def other() -> None: ...

    @ferry.task()
    async def careless() -> str:
        await asyncio.sleep(0)
        try:
            other.push()
        except Exception as error:
            handle = await other.apush()
            return f"{type(error).__name__}: {error}, then {type(handle).__name__}"
        return "not refused"

    work()
    assert "BlockingCall: push would block" in careless.push().result(5)


def test_a_lost_lease_stops_the_handler_at_its_next_safe_point_and_records_nothing(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    claimed, reaped = threading.Event(), threading.Event()
    stopped: list[str] = []
    lost: list[Event] = []
    ferry.on("job.lost")(lost.append)

    @ferry.task()
    def slow(job: Job) -> str:
        if job.attempts == 2:
            return "second"
        claimed.set()
        reaped.wait(5)
        try:
            wait_until(lambda: job.cancelled, what="the news of the lost lease")
            job.checkpoint({"late": True})
        except LeaseLost:
            stopped.append("LeaseLost")
            raise
        return "first"

    work(2, lease=0.3, reap_every=60)
    handle = slow.using(retry=ferry_retry()).push()
    assert claimed.wait(5)
    steal(ferry, handle.id)
    reaped.set()
    wait_until(lambda: lost, what="job.lost")
    assert handle.result(5) == "second"
    wait_until(lambda: stopped == ["LeaseLost"])
    job = handle.job()
    assert (job.fence, job.attempts, job.stored_checkpoint) == (2, 2, None)


def test_jobs_of_a_worker_that_died_are_recovered_at_the_start_of_the_next(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    @ferry.task()
    def task(job: Job) -> int:
        return job.attempts

    handle = task.using(retry=ferry_retry()).push()
    ferry.backend.poll("dead", {"default": 1}, lease=0.001)
    wait_until(lambda: ferry.backend.clock.now() > (handle.job().expires_at or 0))
    work(reap_every=60)
    assert handle.result(5) == 2
    assert [e.text for e in handle.job().errors] == ["Worker timed out"]


def test_a_worker_shows_its_row_and_takes_it_away(ferry: Ferry) -> None:
    import json

    @ferry.task()
    def task() -> None: ...

    worker = ferry.worker({"default": 3}, Settings(lease=1.0))
    worker.start()
    (cell,) = wait_until(lambda: ferry.backend.read_cells("worker/"), what="the worker's row")
    row = json.loads(cell.value)
    assert row["queues"] == {"default": 3}
    assert {"host", "pid", "version", "started_at", "heartbeat_at"} <= row.keys()
    worker.join()
    assert not ferry.backend.read_cells("worker/")


def ferry_retry() -> object:
    from ferryman import Retry

    return Retry(3, base=0)


def steal(ferry: Ferry, job_id: str) -> None:
    """Let the lease run out as the store sees it: end the claim behind its worker's back."""
    from ferryman.lifecycle import Verdict
    from ferryman.queue.settlement import Settlement

    job = ferry.backend.get(job_id)
    assert job is not None
    ferry.backend.settle([Settlement.of(job, Verdict.NACK, delay=0)])
