"""Runs that last longer than history is kept: nothing is collected with results missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman import Ferry, Message, Retry, State, collect
from ferryman.events import Events
from ferryman.service.control import Control
from ferryman.testing import FakeClock, drain
from ferryman.worker.upkeep import Upkeep
from tests.pipeline.given import finish, jobs_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman import Pipeline

DAY = 86_400.0
Prune = "Callable[[Ferry], object]"
broken: set[int] = set()


def by_command(ferry: Ferry) -> None:
    Control(ferry.backend).prune(older_than=7 * DAY)


def by_worker(ferry: Ferry) -> None:
    upkeep = Upkeep(
        ferry.backend,
        "w",
        every=1,
        row_every=1,
        history=7 * DAY,
        row=dict,
        capacities=None,
        rollup=None,
        events=Events(),
        died=print,
    )
    upkeep.prune(7 * DAY)


@pytest.fixture
def pipeline(every: Ferry) -> Pipeline:
    broken.clear()

    @every.task(queue="one")
    def numbers(n: int) -> list[int]:
        return list(range(n))

    @every.task(queue="two", retry=Retry(1))
    def picky(n: int) -> int:
        if n in broken:
            raise ValueError("broken")
        return n

    @every.task(queue="three")
    def total(found: list[int]) -> int:
        return sum(found)

    return every.pipeline("long", numbers >> picky >> collect(total))


@pytest.mark.parametrize("prune", [by_command, by_worker])
def test_what_is_still_to_be_collected_is_not_pruned(
    every: Ferry, pipeline: Pipeline, clock: FakeClock, prune: Callable[[Ferry], None]
) -> None:
    other = every.carry([Message.of("one", "numbers", 0)])[0]
    run = pipeline.push(3)
    broken.add(2)
    drain(every)
    clock.advance(8 * DAY)
    prune(every)
    assert every.backend.get(other.id) is None
    broken.clear()
    run.retry()
    assert finish(every, run) == ["completed"]
    assert run.results() == [3]


def test_a_run_that_collected_lately_can_be_collected_again_and_is_pruned_later(
    every: Ferry, pipeline: Pipeline, clock: FakeClock
) -> None:
    run = pipeline.push(3)
    drain(every, ["one", "two"])
    clock.advance(6 * DAY)
    finish(every, run)
    clock.advance(2 * DAY)
    control = Control(every.backend)
    assert control.prunable(older_than=7 * DAY) == 0
    assert control.prune(older_than=7 * DAY) == 0
    run.retry("total")
    finish(every, run)
    assert run.results() == [3]
    clock.advance(8 * DAY)
    assert control.prunable(older_than=7 * DAY) == 6
    assert control.prune(older_than=7 * DAY) == 6


def test_a_run_whose_first_jobs_are_gone_is_not_collected(every: Ferry, pipeline: Pipeline) -> None:
    run = pipeline.push(3)
    drain(every, ["one", "two"])
    every.backend.delete([run.id])
    assert finish(every, run) == ["failed"]
    [job] = jobs_of(every, "total")
    assert job.state is State.FAILED
    assert "was pruned or deleted, so results may be missing: start the run again" in (
        job.error or ""
    )
