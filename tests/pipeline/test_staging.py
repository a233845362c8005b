"""Fan-outs too large for one ack: staged in chunks, released by it, swept if their attempt dies."""

from __future__ import annotations

from collections.abc import Iterator  # noqa: TC003 - read by the engine
from typing import TYPE_CHECKING, cast

import pytest

from ferryman import Ferry, Job, Retry, State
from ferryman.filter import Filter
from ferryman.pipeline.spread import RELEASE, SWEEP
from ferryman.testing import FakeClock, drain
from ferryman.worker.executor import Executor
from ferryman.worker.leases import LeaseKeeper
from tests.pipeline.given import finish, jobs_of

if TYPE_CHECKING:
    from ferryman import Pipeline

AT_ONCE = 3
MANY = 2 * AT_ONCE + 2


@pytest.fixture
def pipeline(every: Ferry) -> Pipeline:
    every.pipelines.at_once = AT_ONCE

    @every.task(queue="wide", retry=Retry(3, base=1, jitter=0))
    def numbers(n: int, job: Job) -> Iterator[int]:
        yield from range(n)

    @every.task(queue="narrow")
    def one(n: int) -> int:
        return n

    @every.task(queue="narrow")
    def other(n: int) -> int:
        return -n

    return every.pipeline("wide", numbers >> [one, other])


def dying(ferry: Ferry) -> None:
    """An attempt that stages all its children and dies before the ack."""
    keeper = LeaseKeeper(ferry.backend, "dies", lease=10, events=ferry.events, died=print)
    [claim] = keeper.poll({"wide": 1})
    executor = Executor(ferry.tasks, "dies")
    task = executor.task_of(claim)
    assert task is not None
    executor.run(claim, task)
    pass_time(ferry, 11)
    ferry.backend.reap()


def pass_time(ferry: Ferry, seconds: float) -> None:
    cast("FakeClock", ferry.backend.clock).advance(seconds)


def staged(ferry: Ferry) -> int:
    counts = ferry.backend.snapshot().queues.get("narrow")
    return 0 if counts is None else counts.states.get(State.PAUSED, 0)


def test_each_child_of_a_large_generator_runs_once(every: Ferry, pipeline: Pipeline) -> None:
    run = pipeline.push(MANY)
    assert finish(every, run) == ["completed"]
    assert sorted(run.results("one")) == [*range(MANY)]
    assert sorted(run.results("other")) == [-n for n in reversed(range(MANY))]
    assert run.results("numbers") == [MANY]


def test_staged_children_cannot_be_claimed_before_the_ack(every: Ferry, pipeline: Pipeline) -> None:
    pipeline.push(MANY)
    dying(every)
    assert staged(every) == 2 * MANY
    assert drain(every, ["narrow"]) == {}


def test_what_a_dead_attempt_staged_is_swept_and_the_next_attempt_hands_over_its_own(
    every: Ferry, pipeline: Pipeline
) -> None:
    run = pipeline.push(MANY)
    dying(every)
    pass_time(every, 60)
    drain(every, ["wide"], limit=10_000)
    assert staged(every) == 0
    finish(every, run)
    assert sorted(run.results("one")) == [*range(MANY)]
    assert len(jobs_of(every, "one", "other")) == 2 * MANY


def test_what_was_staged_for_a_parent_that_failed_or_was_deleted_does_not_stay(
    every: Ferry, pipeline: Pipeline
) -> None:
    failed, deleted = pipeline.push(MANY), pipeline.push(MANY)
    for _ in range(2):
        dying(every)
    for run, act in ((failed, every.backend.cancel), (deleted, every.backend.delete)):
        act([run.id])
    pass_time(every, 60)
    drain(every, limit=10_000)
    assert staged(every) == 0
    pass_time(every, 3_600)
    drain(every)
    assert {job.state for job in jobs_of(every, SWEEP)} == {State.COMPLETED}


def test_a_sweep_leaves_a_living_attempt_and_a_released_one_alone(
    every: Ferry, pipeline: Pipeline
) -> None:
    run = pipeline.push(MANY)
    finish(every, run)
    every.backend.retry([run.id])  # the parent is of another generation when its sweep looks
    pass_time(every, 60)
    drain(every, limit=100_000)
    assert len(run.results("one")) == 2 * MANY


def test_a_release_that_dies_half_way_is_finished_by_the_next_attempt(
    every: Ferry, pipeline: Pipeline
) -> None:
    run = pipeline.push(MANY)
    for _ in range(50):
        drain(every, ["wide"])
        if jobs_of(every, RELEASE):
            break
    every.backend.retry([job.id for job in jobs_of(every, RELEASE)])
    finish(every, run)
    assert sorted(run.results("one")) == [*range(MANY)]


def test_a_run_that_is_resumed_leaves_staged_children_to_their_parent(
    every: Ferry, pipeline: Pipeline
) -> None:
    run = pipeline.push(MANY)
    dying(every)
    run.pause()
    run.resume()
    assert staged(every) == 2 * MANY
    assert finish(every, run) == ["completed"]
    assert len(run.results("one")) == MANY


def test_a_list_longer_than_an_ack_can_carry_is_staged_too(ferry: Ferry) -> None:
    @ferry.task()
    def numbers(n: int) -> list[int]:
        return list(range(n))

    @ferry.task()
    def one(n: int) -> int:
        return n

    run = ferry.pipeline("long", numbers >> one).push(501)
    finish(ferry, run)
    assert sorted(run.results()) == [*range(501)]
    assert len(ferry.backend.list(Filter.parse(f"task:{RELEASE}")).jobs) == 1


def test_a_run_that_is_cancelled_while_it_stages_leaves_nothing_behind(
    every: Ferry, pipeline: Pipeline
) -> None:
    run = pipeline.push(MANY)
    [job] = every.backend.poll("busy", {"wide": 1}, lease=60)
    keeper = LeaseKeeper(every.backend, "busy", lease=60, events=every.events, died=print)
    claim = keeper._hold([job], 0, 0.0, True)[0]
    assert every.tasks.passage is not None
    spread = every.tasks.passage.spread(claim)
    spread.add([*range(AT_ONCE + 1)])
    run.cancel()
    spread.add([*range(AT_ONCE, MANY)])  # it has not heard of it yet
    assert staged(every) > 0
    pass_time(every, 61)
    every.backend.reap()
    drain(every)
    assert staged(every) == 0
    assert run.state() == "cancelled"
