from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ferryman import Retry
from ferryman.testing import drain

if TYPE_CHECKING:
    from ferryman import Ferry, Pipeline
    from tests.cli.conftest import Run

broken: set[int] = set()


@pytest.fixture
def pipeline(store: Ferry) -> Pipeline:
    broken.clear()

    @store.task(queue="one")
    def numbers(n: int) -> list[int]:
        return list(range(n))

    @store.task(queue="two", retry=Retry(1))
    def picky(n: int) -> int:
        if n in broken:
            raise ValueError("broken")
        return n

    return store.pipeline("count", numbers >> picky)


def test_runs_are_listed_newest_first(run: Run, store: Ferry, pipeline: Pipeline) -> None:
    pipeline.using(id="first").push(1)
    drain(store)
    pipeline.using(id="second").push(1)
    lines = [line.split() for line in run("runs", "list").stdout.splitlines()]
    assert [line[:3] for line in lines] == [
        ["RUN", "STATE", "PIPELINE"],
        ["second", "running", "count"],
        ["first", "completed", "count"],
    ]
    shown = json.loads(run("runs", "list", "--pipeline", "count", "--limit", "1", "--json").stdout)
    assert [(row["run"], row["state"]) for row in shown["runs"]] == [("second", "running")]
    assert json.loads(run("runs", "list", "--pipeline", "x", "--json").stdout) == {"runs": []}


def test_a_run_is_shown_by_stage(run: Run, store: Ferry, pipeline: Pipeline) -> None:
    broken.add(1)
    pipeline.using(id="mine").push(3)
    drain(store)
    lines = run("runs", "show", "mine").stdout.splitlines()
    assert lines[0] == "mine: failed, pipeline count"
    assert lines[3].split() == ["picky", "0", "0", "2", "1", "0", "0"]
    shown = json.loads(run("runs", "show", "mine", "--json").stdout)
    assert (shown["state"], shown["stages"][1]["failed"]) == ("failed", 1)


def test_a_run_is_paused_resumed_cancelled_and_retried(
    run: Run, store: Ferry, pipeline: Pipeline
) -> None:
    mine = pipeline.using(id="mine").push(2)
    assert run("runs", "pause", "mine").stdout == "mine: paused, 1 job\n"
    assert mine.state() == "paused"
    assert run("runs", "resume", "mine").stdout == "mine: resumed, 1 job\n"
    shown = json.loads(run("runs", "cancel", "mine", "--json").stdout)
    assert shown == {"run": "mine", "done": "cancelled", "jobs": 1}
    assert run("runs", "retry", "mine").stdout == "mine: retried, 1 job\n"
    drain(store)
    assert mine.state() == "completed"
    assert (
        "would run stage 'picky' again"
        in run("runs", "retry", "mine", "--stage", "picky", code=4).stderr
    )
    told = run("runs", "retry", "mine", "--stage", "picky", "--yes").stdout
    assert told == "mine: retried, 2 jobs\n"


def test_what_is_not_there_or_not_allowed_is_told(
    run: Run, store: Ferry, pipeline: Pipeline
) -> None:
    pipeline.using(id="mine").push(1)
    drain(store)
    assert "no run 'other'" in run("runs", "show", "other", code=3).stderr
    assert "has ended" in run("runs", "pause", "mine", code=4).stderr
    assert "has no stage 'x'" in run("runs", "retry", "mine", "--stage", "x", "-y", code=2).stderr
    assert "limit" in run("runs", "list", "--limit", "0", code=2).stderr
