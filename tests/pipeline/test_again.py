"""Runs that are retried: nothing is made twice, and nothing is collected too early."""

from __future__ import annotations

from collections.abc import Iterator  # noqa: TC003 - read by the engine
from typing import TYPE_CHECKING

import pytest

from ferryman import Ferry, Job, Retry, collect
from ferryman.pipeline import barrier
from ferryman.pipeline.barrier import BARRIER
from ferryman.testing import FakeClock, drain
from tests.pipeline.given import finish, jobs_of

if TYPE_CHECKING:
    from ferryman import Pipeline
    from ferryman.tasks.route import Failed

broken: set[int] = set()


def a_chain(ferry: Ferry, failed: Failed = "wait") -> Pipeline:
    """Two stages lead to the one that collects."""
    broken.clear()

    @ferry.task(queue="one")
    def numbers(n: int) -> list[int]:
        return list(range(n))

    @ferry.task(queue="two", retry=Retry(1))
    def picky(n: int) -> int:
        if n in broken:
            raise ValueError("broken")
        return n

    @ferry.task(queue="three")
    def tenfold(n: int) -> int:
        return 10 * n

    @ferry.task(queue="four")
    def total(found: list[int]) -> int:
        return sum(found)

    return ferry.pipeline("chain", numbers >> picky >> tenfold >> collect(total, failed=failed))


def test_what_is_retried_from_a_stage_is_waited_for_though_its_barrier_runs_first(
    every: Ferry,
) -> None:
    run = a_chain(every).push(3)
    drain(every, ["one", "two"])
    drain(every, ["four"])  # the barrier has passed `picky`
    finish(every, run)
    assert run.retry("picky") == 3
    for _ in range(3):
        drain(every, ["four"])
    assert finish(every, run) == ["completed"]
    assert run.results() == [30]


@pytest.mark.parametrize("failed", ["skip", "fail"])
def test_what_is_retried_while_others_run_is_waited_for(
    every: Ferry, clock: FakeClock, failed: Failed
) -> None:
    run = a_chain(every, failed).push(3)
    broken.add(2)
    drain(every, ["one", "two"])
    drain(every, ["four"])  # the barrier has passed `picky`
    broken.clear()
    assert run.retry() == 1
    drain(every, ["three"])
    for _ in range(3):
        drain(every, ["four"])
        clock.advance(1)
    assert finish(every, run) == ["completed"]
    assert run.results() == [30]


def test_a_barrier_that_gave_its_place_to_another_collects_once_after_a_retry(
    ferry: Ferry, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(barrier, "TURNS", 2)
    run = a_chain(ferry).push(2)
    drain(ferry, ["one"])
    for _ in range(4):
        drain(ferry, ["four"])
        clock.advance(60)
    finish(ferry, run)
    assert len(jobs_of(ferry, BARRIER)) > 1
    run.retry("picky")
    finish(ferry, run)
    assert len(jobs_of(ferry, "total")) == 1


@pytest.fixture
def wide(every: Ferry) -> Pipeline:
    every.pipelines.at_once = 3

    @every.task(queue="wide", retry=Retry(1))
    def spread(n: int, job: Job) -> Iterator[int]:
        for number in range(n):
            if number == n - 1 and job.generation == 1:
                raise ValueError("half-way")
            yield number

    @every.task(queue="narrow")
    def one(n: int) -> int:
        return n

    @every.task(queue="narrow")
    def total(found: list[int]) -> int:
        return sum(found)

    return every.pipeline("wide", spread >> one >> collect(total))


def test_a_generator_that_fails_half_way_is_a_failed_run(every: Ferry, wide: Pipeline) -> None:
    run = wide.push(104)
    drain(every)
    assert len(jobs_of(every, "one")) > 0
    assert run.state() == "failed"
    assert run.progress().state == "failed"


def test_a_cancelled_run_that_is_retried_makes_nothing_of_what_was_staged(
    every: Ferry, wide: Pipeline
) -> None:
    run = wide.push(104)
    drain(every)
    run.cancel()
    run.retry()
    assert finish(every, run) == ["completed"]
    assert run.results() == [sum(range(104))]


def test_a_stage_that_is_retried_makes_nothing_of_what_was_staged(
    every: Ferry, wide: Pipeline
) -> None:
    run = wide.push(104)
    drain(every)
    run.cancel()
    run.retry("spread")
    assert finish(every, run) == ["completed"]
    assert run.retry("one") == 104
    assert finish(every, run) == ["completed"]
    assert run.results() == [sum(range(104))]
