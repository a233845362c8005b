"""What can be seen of a run, and done to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman import (
    Ferry,
    JobNotFound,
    NotAllowed,
    Retry,
    State,
    StillUnfinished,
    TaskError,
    collect,
)
from ferryman.lifecycle import Verdict
from ferryman.queue.settlement import Settlement
from ferryman.testing import FakeClock, drain
from tests.pipeline.given import finish, jobs_of

if TYPE_CHECKING:
    from ferryman import Pipeline

broken: set[int] = set()
seen: list[int] = []


@pytest.fixture
def pipeline(every: Ferry) -> Pipeline:
    broken.clear()
    seen.clear()

    @every.task(queue="one")
    def numbers(n: int) -> list[int]:
        return list(range(n))

    @every.task(queue="two", retry=Retry(1))
    def picky(n: int) -> int:
        seen.append(n)
        if n in broken:
            raise ValueError("broken")
        return n

    @every.task(queue="three")
    def total(found: list[int]) -> int:
        return sum(found)

    return every.pipeline("run", numbers >> picky >> collect(total, failed="skip"))


def test_progress_tells_each_stage_and_the_state(every: Ferry, pipeline: Pipeline) -> None:
    run = pipeline.push(3)
    assert run.progress().stages == {"numbers": {State.PENDING: 1}, "picky": {}, "total": {}}
    drain(every, ["one"])
    assert run.progress().stages == {
        "numbers": {State.COMPLETED: 1},
        "picky": {State.PENDING: 3},
        "total": {State.PENDING: 1},
    }
    broken.add(1)
    assert (run.state(), run.progress().state) == ("running", "running")
    assert finish(every, run) == ["failed"]
    assert run.progress().stages["picky"] == {State.COMPLETED: 2, State.FAILED: 1}
    assert run.progress().state == "failed"


def test_a_run_that_was_cancelled_does_nothing_more(every: Ferry, pipeline: Pipeline) -> None:
    run, other = pipeline.push(3), pipeline.push(2)
    drain(every, ["one"])
    assert run.cancel() == 4
    assert finish(every, run, other) == ["cancelled", "completed"]
    assert sorted(seen) == [0, 1]


def test_what_is_handed_over_in_a_paused_run_waits_too(
    every: Ferry, pipeline: Pipeline, clock: FakeClock
) -> None:
    run = pipeline.push(3)
    backend = every.backend
    [job] = backend.poll("busy", {"one": 1}, lease=60)
    assert run.pause() == 1  # asked: the job runs, and completes all the same
    from ferryman.worker.executor import Executor
    from ferryman.worker.leases import LeaseKeeper

    keeper = LeaseKeeper(backend, "busy", lease=60, events=every.events, died=print)
    claim = keeper._hold([job], 0, 0.0, True)[0]
    settlement = Executor(every.tasks, "busy")._next(claim, "[0,1,2]")
    backend.settle([Settlement.of(job, Verdict.ACK, result="[0,1,2]", children=settlement)])
    assert {state.state for state in jobs_of(every, "picky")} == {State.PENDING}
    clock.advance(1)
    drain(every)
    assert {job.state for job in jobs_of(every, "picky")} == {State.PAUSED}
    assert (run.state(), seen) == ("paused", [])
    assert run.resume() == 4
    assert finish(every, run) == ["completed"]
    assert run.results() == [3]


def test_a_run_that_is_resumed_before_its_worker_has_heard_of_the_pause_goes_on(
    every: Ferry, pipeline: Pipeline, clock: FakeClock
) -> None:
    run = pipeline.push(3)
    [job] = every.backend.poll("busy", {"one": 1}, lease=60)
    run.pause()
    assert run.resume() == 0
    drain(every)
    every.backend.settle([Settlement.of(job, Verdict.GIVE_BACK)])  # it stopped, as it was asked
    assert every.backend.get(job.id).state is State.PAUSED  # type: ignore[union-attr]
    assert run.state() == "running"
    assert finish(every, run) == ["completed"]
    assert run.results() == [3]


def test_a_paused_run_can_be_cancelled(every: Ferry, pipeline: Pipeline) -> None:
    run = pipeline.push(3)
    run.pause()
    run.cancel()
    assert finish(every, run) == ["cancelled"]
    with pytest.raises(NotAllowed, match="has ended"):
        run.pause()
    run.retry()
    assert finish(every, run) == ["completed"]


def test_retry_runs_what_failed_again(every: Ferry, pipeline: Pipeline) -> None:
    run = pipeline.push(3)
    broken.add(1)
    finish(every, run)
    broken.clear()
    assert run.retry() == 1
    assert finish(every, run) == ["completed"]
    assert sorted(seen) == [0, 1, 1, 2]


def test_retry_from_a_stage_makes_all_that_follows_anew(every: Ferry, pipeline: Pipeline) -> None:
    run = pipeline.push(3)
    broken.add(1)
    finish(every, run)
    assert run.results() == [2]
    broken.clear()
    assert run.retry("picky") == 3
    assert finish(every, run) == ["completed"]
    assert run.results() == [3]
    assert len(jobs_of(every, "total")) == 1
    assert run.retry("numbers") == 1
    assert finish(every, run) == ["completed"]
    assert (run.results(), len(jobs_of(every, "picky"))) == ([3], 3)
    assert run.retry("total") == 1
    assert finish(every, run) == ["completed"]
    assert run.results() == [3]


def test_a_stage_that_still_runs_cannot_be_retried(every: Ferry, pipeline: Pipeline) -> None:
    run = pipeline.push(3)
    drain(every, ["one"])
    for stage in ("numbers", "picky"):
        with pytest.raises(NotAllowed, match=f"is not done with '{stage}'"):
            run.retry(stage)
    with pytest.raises(TaskError, match="has no stage 'nowhere': it has numbers, picky, total"):
        run.retry("nowhere")


def test_a_run_can_be_found_again_by_its_id(every: Ferry, pipeline: Pipeline) -> None:
    run = pipeline.using(id="mine").push(2)
    finish(every, run)
    assert pipeline.run("mine").results() == [1]
    for ask in (pipeline.run("none").state, pipeline.run("none").progress):
        with pytest.raises(JobNotFound):
            ask()


def test_waiting_for_a_run_ends_with_it_or_with_its_time(every: Ferry, pipeline: Pipeline) -> None:
    run = pipeline.push(2)
    with pytest.raises(StillUnfinished, match="still goes on after 0 s"):
        run.wait(0)
    finish(every, run)
    assert run.wait(0) == "completed"
