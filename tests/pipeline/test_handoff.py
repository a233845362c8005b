"""What a stage returns is the next one's input."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator  # noqa: TC003 - read by the engine
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

from ferryman import Cancel, Fail, Ferry, Job, Retry, Snooze, State
from ferryman.testing import drain
from tests.pipeline.given import finish, jobs_of, payloads

if TYPE_CHECKING:
    from ferryman.testing import FakeClock


class Edition(BaseModel):
    url: str
    pages: int = 1


def test_a_value_passes_through_all_stages(every: Ferry) -> None:
    @every.task(queue="one")
    def double(n: int) -> int:
        return 2 * n

    @every.task(queue="two")
    def add_one(n: int) -> int:
        return n + 1

    @every.task(queue="three")
    def tell(n: int) -> str:
        return f"it is {n}"

    run = every.pipeline("count", double >> add_one >> tell).push(20)
    assert finish(every, run) == ["completed"]
    assert run.results() == ["it is 41"]
    assert run.results("double") == [40]


def test_a_list_fans_out_in_order_and_each_item_goes_on_alone(every: Ferry) -> None:
    @every.task(queue="one")
    def count(n: int) -> list[int]:
        return list(range(n))

    @every.task(queue="two")
    def square(n: int) -> int:
        return n * n

    run = every.pipeline("squares", count >> square).push(5)
    assert finish(every, run) == ["completed"]
    assert [job.payload for job in jobs_of(every, "square")] == [0, 1, 2, 3, 4]
    assert sorted(run.results()) == [0, 1, 4, 9, 16]


def test_models_travel_as_their_annotations_say(ferry: Ferry) -> None:
    seen: list[Edition] = []

    @ferry.task()
    def discover(year: int) -> list[Edition]:
        return [Edition(url=f"{year}/{n}", pages=n) for n in range(1, 3)]

    @ferry.task()
    def archive(edition: Edition) -> None:
        seen.append(edition)

    finish(ferry, ferry.pipeline("gazette", discover >> archive).push(2026))
    assert seen == [Edition(url="2026/1", pages=1), Edition(url="2026/2", pages=2)]


def test_none_ends_a_branch(ferry: Ferry) -> None:
    @ferry.task()
    def only_even(n: int) -> int | None:
        return None if n % 2 else n

    @ferry.task()
    def after(n: int) -> int:
        return n

    pipeline = ferry.pipeline("even", only_even >> after)
    odd, even = pipeline.push(3), pipeline.push(4)
    assert finish(ferry, odd, even) == ["completed", "completed"]
    assert (odd.results(), even.results()) == ([], [4])


def test_branches_all_get_the_value_and_can_meet_again(ferry: Ferry) -> None:
    @ferry.task()
    def start(n: int) -> int:
        return n

    @ferry.task()
    def plus(n: int) -> int:
        return n + 1

    @ferry.task()
    def minus(n: int) -> int:
        return n - 1

    @ferry.task()
    def end(n: int) -> int:
        return n

    run = ferry.pipeline("branches", start >> [plus, minus] >> end).push(10)
    finish(ferry, run)
    assert sorted(run.results()) == [9, 11]


def test_a_stage_that_takes_a_list_gets_the_list(ferry: Ferry) -> None:
    @ferry.task()
    def numbers(n: int) -> list[int]:
        return list(range(n))

    @ferry.task()
    def total(all_of_them: list[int]) -> int:
        return sum(all_of_them)

    @ferry.task()
    def each(n: int) -> int:
        return n

    run = ferry.pipeline("both", numbers >> [total, each]).push(4)
    finish(ferry, run)
    assert sorted(run.results("each")) == [0, 1, 2, 3]
    assert run.results("total") == [6]


def test_a_stage_with_several_parameters_takes_an_object(ferry: Ferry) -> None:
    @ferry.task()
    def ask(n: int) -> dict[str, int]:
        return {"a": n, "b": 2}

    @ferry.task()
    def power(a: int, b: int) -> int:
        return int(a**b)

    @ferry.task()
    def done() -> str:
        return "done"

    run = ferry.pipeline("power", ask >> power >> done).push(7)
    finish(ferry, run)
    assert run.results("power") == [49]
    assert run.results() == ["done"]


def test_what_does_not_fit_the_next_stage_fails_the_job_and_names_the_stage(ferry: Ferry) -> None:
    @ferry.task()
    def says(n: int) -> Any:
        return "text"

    @ferry.task()
    def wants(n: int) -> int:
        return n

    run = ferry.pipeline("misfit", says >> wants).push(1)
    assert finish(ferry, run) == ["failed"]
    [job] = jobs_of(ferry, "says")
    assert "does not fit 'wants': payload.n: must be int" in (job.error or "")


@pytest.mark.parametrize("outcome", [Fail("no"), Cancel("no"), ValueError("no")])
def test_only_a_job_that_completes_hands_over(ferry: Ferry, outcome: Exception) -> None:
    @ferry.task(retry=Retry(1))
    def first(n: int) -> int:
        raise outcome

    @ferry.task()
    def second(n: int) -> int:
        return n

    run = ferry.pipeline("end", first >> second).push(1)
    finish(ferry, run)
    assert jobs_of(ferry, "second") == []


def test_a_failing_stage_does_not_stop_the_others(ferry: Ferry) -> None:
    @ferry.task()
    def numbers(n: int) -> list[int]:
        return list(range(n))

    @ferry.task(retry=Retry(1))
    def picky(n: int) -> int:
        if n == 2:
            raise ValueError("not two")
        return n

    @ferry.task()
    def after(n: int) -> int:
        return n

    run = ferry.pipeline("picky", numbers >> picky >> after).push(4)
    assert finish(ferry, run) == ["failed"]
    assert sorted(run.results()) == [0, 1, 3]


def test_a_job_snoozes_and_retries_as_it_would_outside_of_a_run(
    ferry: Ferry, clock: FakeClock
) -> None:
    words = [Snooze(5), ValueError("once"), None]

    @ferry.task(retry=Retry(2, base=1, jitter=0))
    def first(n: int, job: Job) -> int:
        if (word := words.pop(0)) is not None:
            raise word
        return n

    @ferry.task()
    def second(n: int) -> int:
        return n

    run = ferry.pipeline("patient", first >> second).push(1)
    assert finish(ferry, run) == ["completed"]
    assert run.results() == [1]


def test_async_stages_hand_over_too(ferry: Ferry) -> None:
    @ferry.task()
    async def numbers(n: int) -> list[int]:
        return list(range(n))

    @ferry.task()
    async def more(n: int) -> AsyncIterator[int]:
        for each in range(n):
            yield each

    @ferry.task()
    async def last(n: int) -> int:
        return n

    run = ferry.pipeline("async", numbers >> more >> last).push(4)
    assert finish(ferry, run) == ["completed"]
    assert sorted(run.results()) == [0, 0, 0, 1, 1, 2]


def test_what_a_generator_yields_becomes_jobs_and_its_result_is_their_number(
    ferry: Ferry,
) -> None:
    @ferry.task()
    def pages(n: int) -> Iterator[Edition]:
        for number in range(n):
            yield Edition(url=str(number))

    @ferry.task()
    def read(edition: Edition) -> str:
        return edition.url

    run = ferry.pipeline("pages", pages >> read).push(3)
    finish(ferry, run)
    assert run.results("pages") == [3]
    assert sorted(run.results()) == ["0", "1", "2"]


def test_a_run_passes_on_its_priority_meta_and_correlation_id(ferry: Ferry) -> None:
    @ferry.task()
    def first(n: int) -> int:
        return n

    @ferry.task(priority=3)
    def second(n: int) -> int:
        return n

    @ferry.task()
    def third(n: int) -> int:
        return n

    pipeline = ferry.pipeline("urgent", first >> second >> third)
    options = {"priority": "high", "meta": {"user_id": "7"}, "correlation_id": "r-1"}
    run = pipeline.using(id="my-run", **options).push(1)
    finish(ferry, run)
    jobs = jobs_of(ferry)
    assert (run.id, [job.priority for job in jobs]) == ("my-run", [10, 3, 3])
    assert {job.correlation_id for job in jobs} == {"r-1"}
    assert {job.meta["user_id"] for job in jobs} == {"7"}
    assert {job.meta["run"] for job in jobs} == {"my-run"}
    assert not pipeline.using(id="my-run").push(1).created


def test_a_job_of_a_pipeline_that_a_worker_does_not_know_is_given_back(
    every: Ferry, url: str, clock: FakeClock
) -> None:
    @every.task()
    def first(n: int) -> int:
        return n

    pipeline = every.pipeline("known", first)
    if url == "memory://":
        every.pipelines._pipelines.clear()
        run = pipeline.push(1)
        drain(every)
    else:
        run = pipeline.push(1)
        with Ferry(url, clock=clock) as older:
            older.tasks.add(first)
            drain(older)
    job = every.backend.get(run.id)
    assert job is not None
    assert (job.state, job.attempts) == (State.PENDING, 0)
    assert "no pipeline 'known'" in (job.error or "")


def test_a_child_whose_parent_dies_before_its_ack_is_not_there(every: Ferry) -> None:
    @every.task(retry=Retry(2))
    def first(n: int) -> list[int]:
        return [n, n + 1]

    @every.task()
    def second(n: int) -> int:
        return n

    run = every.pipeline("mortal", first >> second).push(1)
    backend = every.backend
    assert backend.poll("dies", {"default": 1}, lease=10)
    every.backend.clock.advance(11)  # type: ignore[attr-defined]
    assert len(backend.reap()) == 1
    assert jobs_of(every, "second") == []
    finish(every, run)
    assert payloads(every, "second") == [1, 2]
