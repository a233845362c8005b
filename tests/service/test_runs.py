"""Runs as lists and pages show them, and what that costs the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman import Event, Ferry, State, collect
from ferryman.service import run_counts
from ferryman.service.runs import RunNotFound, Runs
from ferryman.testing.inline import drain
from ferryman.worker.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ferryman import Pipeline, Run


@pytest.fixture(params=["memory", "sqlite", "file"])
def ferry(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ferry]:
    urls = {
        "memory": "memory://",
        "sqlite": f"sqlite:///{tmp_path}/jobs.db",
        "file": f"file://{tmp_path}/jobs",
    }
    with Ferry(urls[request.param]) as ferry:
        yield ferry


@pytest.fixture
def gazette(ferry: Ferry) -> Pipeline:
    @ferry.task(queue="discover")
    def discover(pages: int) -> list[int]:
        return list(range(pages))

    @ferry.task(queue="extract")
    def extract(page: int) -> int:
        return page

    @ferry.task(queue="rank")
    def rank(pages: list[int]) -> int:
        return sum(pages)

    return ferry.pipeline("gazette", discover >> extract >> collect(rank))


def complete(ferry: Ferry, run: Run) -> None:
    """Let a worker finish a run; barriers wait, so it takes more than one pass."""
    worker = ferry.worker({"discover": 1, "extract": 1, "rank": 1}, Settings(drain=5.0))
    worker.start()
    assert run.wait(20) == "completed"
    worker.join()


def test_pages_of_runs_go_on_where_the_one_before_ended(ferry: Ferry, gazette: Pipeline) -> None:
    pushed = [gazette.push(number).id for number in range(7)]
    # The first stage of one pipeline may be a later one of another.
    ferry.pipeline(
        "other", ferry.task(name="before", queue="x")(_same) >> gazette.tasks["discover"]
    )
    other = ferry.pipelines["other"].push(1).id
    runs, seen, after = Runs(ferry.backend), [], None
    while True:
        page = runs.page("gazette", limit=3, after=after)
        seen += [row.id for row in page.runs]
        if (after := page.next) is None:
            break
    assert seen == pushed[::-1]
    assert [row.id for row in runs.list()] == [other, *pushed[::-1]]
    assert runs.page("nobody").runs == []


def test_a_list_counts_the_jobs_of_each_stage_as_the_run_itself_does(
    ferry: Ferry, gazette: Pipeline
) -> None:
    complete(ferry, gazette.using(id="done").push(3))
    gazette.using(id="going").push(2)
    ferry.backend.pause_queue("extract")
    drain(ferry)
    gazette.using(id="new").push(1)
    runs = Runs(ferry.backend)
    rows = {row.id: row for row in runs.list()}
    assert {run_id: row.state for run_id, row in rows.items()} == {
        "new": "running",
        "going": "running",
        "done": "completed",
    }
    for run_id, row in rows.items():
        assert row.state == gazette.run(run_id).state()
        assert row.progress == runs.show(run_id).progress == gazette.run(run_id).progress()
    done = rows["done"].progress
    assert done is not None
    assert {stage: dict(counts) for stage, counts in done.stages.items()} == {
        "discover": {State.COMPLETED: 1},
        "extract": {State.COMPLETED: 3},
        "rank": {State.COMPLETED: 1},
    }


def test_runs_with_too_many_jobs_are_listed_without_counting_them(
    ferry: Ferry, gazette: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_counts, "PAGE", 2)
    complete(ferry, gazette.using(id="large").push(20))
    [row] = Runs(ferry.backend).list()
    assert (row.state, row.progress) == ("completed", None)
    assert Runs(ferry.backend).show("large").progress.stages["extract"] == {State.COMPLETED: 20}


def test_a_list_of_runs_costs_three_questions_and_one_run_two(
    ferry: Ferry, gazette: Pipeline
) -> None:
    for number in range(5):
        gazette.using(id=f"run-{number}").push(number)
    asked: list[object] = []

    @ferry.on("backend.call")
    def count(event: Event) -> None:
        asked.append(event["verb"])

    runs = Runs(ferry.backend)
    runs.list("gazette", limit=5)
    assert len(asked) == 3, asked
    asked.clear()
    runs.show("run-1")
    assert len(asked) == 2, asked


def test_a_job_that_only_says_that_it_is_of_a_run_is_not_counted(
    ferry: Ferry, gazette: Pipeline
) -> None:
    gazette.using(id="real").push(0)
    ferry.push("stray", meta={"run": "real"})
    ferry.push("stray", meta={"run": "made-up"})
    [row] = Runs(ferry.backend).list()
    assert row.progress is not None
    assert row.progress.stages["discover"] == {State.PENDING: 1}
    with pytest.raises(RunNotFound):
        Runs(ferry.backend).show("made-up")


def _same(number: int) -> int:
    return number
