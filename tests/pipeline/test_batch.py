"""run_batch: at most so many jobs, in this process, then back to cron."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman import Ferry, InvalidMessage, Retry, Snooze, TaskError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ferryman import Pipeline


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ferry]:
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/jobs.db"
    with Ferry(url) as ferry:
        yield ferry


@pytest.fixture
def pipeline(store: Ferry) -> Pipeline:
    @store.task(queue="one")
    def numbers(n: int) -> list[int]:
        return list(range(n))

    @store.task(queue="two", retry=Retry(2, base=600))
    def picky(n: int) -> int:
        if n == 1:
            raise ValueError("not one")
        return n

    @store.task(queue="two")
    async def last(n: int) -> None:
        if n == 2:
            raise Snooze(600)

    return store.pipeline("batch", numbers >> picky >> last)


def test_it_runs_jobs_and_what_follows_until_none_is_due(store: Ferry, pipeline: Pipeline) -> None:
    pipeline.push(4)
    assert store.run_batch(100) == {"processed": 8, "succeeded": 6, "failed": 1}
    assert store.run_batch(100) == {"processed": 0, "succeeded": 0, "failed": 0}


def test_it_runs_no_more_than_it_may(store: Ferry, pipeline: Pipeline) -> None:
    pipeline.push(4)
    assert store.run_batch(1) == {"processed": 1, "succeeded": 1, "failed": 0}
    assert store.run_batch(3)["processed"] == 3
    assert store.run_batch(100, slots=4)["processed"] == 4


def test_it_can_be_confined_to_a_stage(store: Ferry, pipeline: Pipeline) -> None:
    pipeline.push(4)
    assert store.run_batch(100, stage="picky")["processed"] == 0
    assert store.run_batch(100, stage="numbers")["processed"] == 1
    assert store.run_batch(100, stage="picky") == {"processed": 4, "succeeded": 3, "failed": 1}
    assert store.run_batch(100, stage="last")["processed"] == 3


def test_nonsense_is_refused(store: Ferry, pipeline: Pipeline) -> None:
    with pytest.raises(TaskError, match="no task is named 'nowhere'"):
        store.run_batch(stage="nowhere")
    with pytest.raises(InvalidMessage, match="limit"):
        store.run_batch(0)
    with pytest.raises(InvalidMessage, match="slots"):
        store.run_batch(slots=0)
