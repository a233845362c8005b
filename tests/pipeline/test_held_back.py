"""Pipelines under limits: the engine's own jobs neither use them up nor stand in their way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman import Ferry, collect
from ferryman.service.runs import Runs
from ferryman.testing import wait_until

if TYPE_CHECKING:
    from ferryman import Pipeline


def a_pipeline(ferry: Ferry) -> Pipeline:
    @ferry.task(queue="one")
    def numbers(n: int) -> list[int]:
        return list(range(n))

    @ferry.task(queue="two")
    def same(n: int) -> int:
        return n

    @ferry.task(queue="three")
    def total(found: list[int]) -> int:
        return sum(found)

    return ferry.pipeline("held", numbers >> same >> collect(total))


def test_a_barrier_takes_no_grant_of_its_queue() -> None:
    with Ferry("memory://") as ferry:
        pipeline = a_pipeline(ferry)
        ferry.limit("three", rate="1/h")
        run = pipeline.push(3)
        worker = ferry.worker({"one": 1, "three": 2})
        worker.start()
        wait_until(lambda: run.progress().stages["total"] != {}, what="a barrier")
        helper = ferry.worker({"two": 1})
        helper.start()
        assert run.wait(20) == "completed"
        worker.join()
        helper.join()


def test_barriers_that_fill_a_queue_do_not_hold_back_what_they_wait_for() -> None:
    with Ferry("memory://") as ferry:
        pipeline = a_pipeline(ferry)
        ferry.limit("three", capacity=2)
        runs = pipeline.push_many([2] * 6)
        worker = ferry.worker({"one": 1})
        worker.start()
        wait_until(lambda: ferry.backend.depth("three", 9) == 6, what="the barriers")
        helper = ferry.worker({"two": 1, "three": 1})
        helper.start()
        assert [run.wait(20) for run in runs] == ["completed"] * 6
        worker.join()
        helper.join()


def test_pipelines_of_the_same_stages_and_like_names_are_both_known() -> None:
    with Ferry("memory://") as ferry:

        @ferry.task()
        def same(n: int) -> int:
            return n

        for name in ("nightly", "night"):
            ferry.pipeline(name, same).using(id=f"a {name}").push(1)
        assert {row.id for row in Runs(ferry.backend).list()} == {"a nightly", "a night"}
