"""Fan-in: a stage that runs once, when all that leads to it has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ferryman import Ferry, Retry, State, Unsupported, collect
from ferryman.pipeline.barrier import BARRIER
from ferryman.testing import FakeClock, drain
from tests.pipeline.given import finish, jobs_of

if TYPE_CHECKING:
    from ferryman import Pipeline
    from ferryman.tasks.route import Failed

broken: set[int] = set()


def a_pipeline(ferry: Ferry, failed: Failed = "wait") -> Pipeline:
    broken.clear()

    @ferry.task(queue="one")
    def numbers(n: int) -> list[int]:
        return list(range(n))

    @ferry.task(queue="two", retry=Retry(1))
    def double(n: int) -> int | None:
        if n in broken:
            raise ValueError("broken")
        return None if n == 1 else 2 * n

    @ferry.task(queue="three")
    def total(all_of_them: list[int]) -> int:
        return sum(all_of_them)

    @ferry.task(queue="four")
    def tell(n: int) -> str:
        return f"{n} in all"

    return ferry.pipeline("total", numbers >> double >> collect(total, failed=failed) >> tell)


def test_it_runs_once_with_all_results_and_the_run_goes_on(every: Ferry) -> None:
    run = a_pipeline(every).push(5)
    assert finish(every, run) == ["completed"]
    assert run.results("total") == [2 * (0 + 2 + 3 + 4)]
    assert run.results() == ["18 in all"]
    assert len(jobs_of(every, "total")) == 1


def test_it_waits_while_anything_before_it_is_unfinished(every: Ferry, clock: FakeClock) -> None:
    run = a_pipeline(every).push(3)
    for _ in range(20):
        drain(every, ["one", "three", "four"])
        clock.advance(1)
    assert jobs_of(every, "total") == []
    assert run.progress().stages["total"] == {State.PENDING: 1}
    finish(every, run)
    assert run.results() == ["4 in all"]


def test_wait_holds_it_until_what_failed_is_retried(every: Ferry) -> None:
    run = a_pipeline(every, "wait").push(4)
    broken.add(2)
    with pytest.raises(AssertionError, match="still"):
        finish(every, run, turns=30)
    assert jobs_of(every, "total") == []
    broken.clear()
    assert run.retry() == 1
    assert finish(every, run) == ["completed"]
    assert run.results("total") == [2 * (0 + 2 + 3)]


def test_skip_runs_it_with_what_completed(every: Ferry) -> None:
    run = a_pipeline(every, "skip").push(4)
    broken.add(2)
    assert finish(every, run) == ["failed"]
    assert run.results("total") == [2 * (0 + 3)]


def test_fail_fails_it_and_a_retried_run_goes_on(every: Ferry) -> None:
    run = a_pipeline(every, "fail").push(4)
    broken.add(2)
    assert finish(every, run) == ["failed"]
    [barrier] = jobs_of(every, BARRIER)
    assert barrier.state is State.FAILED
    assert "of stage 'double' is failed: retry the run" in (barrier.error or "")
    broken.clear()
    assert run.retry() == 2
    assert finish(every, run) == ["completed"]
    assert run.results() == ["10 in all"]


def test_a_fan_out_of_nothing_is_collected_as_nothing(ferry: Ferry) -> None:
    run = a_pipeline(ferry).push(0)
    finish(ferry, run)
    assert run.results() == ["0 in all"]


def test_collects_can_follow_each_other_and_collect_branches(ferry: Ferry) -> None:
    @ferry.task()
    def start(n: int) -> int:
        return n

    @ferry.task()
    def left(n: int) -> list[int]:
        return [n, n]

    @ferry.task()
    def right(n: int) -> int:
        return 10 * n

    @ferry.task()
    def leaf(n: int) -> int:
        return n

    @ferry.task()
    def both(found: list[int]) -> list[int]:
        return sorted(found)

    @ferry.task()
    def again(n: int) -> int:
        return n + 1

    @ferry.task()
    def last(found: list[int]) -> int:
        return sum(found)

    pipeline = ferry.pipeline(
        "diamond",
        start >> [left >> leaf, right] >> collect(both),
        both >> again >> collect(last),
    )
    run = pipeline.push(1)
    assert finish(ferry, run) == ["completed"]
    assert run.results("both") == [[1, 1, 10]]
    assert run.results() == [2 + 2 + 11]


def test_an_async_stage_can_collect(ferry: Ferry) -> None:
    @ferry.task()
    def numbers(n: int) -> list[int]:
        return list(range(n))

    @ferry.task()
    def same(n: int) -> int:
        return n

    @ferry.task()
    async def total(found: list[int]) -> int:
        return sum(found)

    run = ferry.pipeline("async", numbers >> same >> collect(total)).push(4)
    finish(ferry, run)
    assert run.results() == [6]


def test_a_gate_that_waited_long_gives_its_place_to_another(ferry: Ferry, clock: FakeClock) -> None:
    run = a_pipeline(ferry).push(2)
    drain(ferry, ["one"])
    for _ in range(910):
        drain(ferry, ["three"])
        clock.advance(60)
    barriers = jobs_of(ferry, BARRIER)
    assert [barrier.state for barrier in barriers] == [State.COMPLETED, State.PENDING]
    finish(ferry, run)
    assert run.results() == ["0 in all"]


def test_other_runs_are_not_waited_for(ferry: Ferry) -> None:
    pipeline = a_pipeline(ferry)
    stuck = pipeline.push(2)
    drain(ferry, ["one"])
    ferry.backend.pause([job.id for job in jobs_of(ferry, "double")])
    run = pipeline.push(3)
    assert finish(ferry, run) == ["completed"]
    assert stuck.state() == "running"


def test_a_store_that_does_not_see_all_jobs_at_once_refuses_to_collect(
    ferry: Ferry, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    from ferryman.backends.memory import backend

    blind = replace(backend.CAPABILITIES, exact_counts=False)
    monkeypatch.setattr(backend, "CAPABILITIES", blind)
    with pytest.raises(Unsupported, match="memory: pipeline 'total' collects"):
        a_pipeline(ferry).push(1)


def test_results_keep_the_order_in_which_a_list_fanned_out(ferry: Ferry) -> None:
    @ferry.task()
    def numbers(n: int) -> list[int]:
        return list(range(n))

    @ferry.task()
    def same(n: int) -> int:
        return n

    @ferry.task()
    def listed(found: list[Any]) -> list[Any]:
        return found

    run = ferry.pipeline("ordered", numbers >> same >> collect(listed)).push(7)
    finish(ferry, run)
    assert run.results() == [[0, 1, 2, 3, 4, 5, 6]]
