"""A pipeline is checked when it is declared."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from ferryman import Ferry, TaskError, Tasks, collect
from ferryman.pipeline.fitting import fits, item_fits


class Edition(BaseModel):
    url: str


class Special(Edition):
    pass


class Other(BaseModel):
    name: str


def with_tasks(ferry: Ferry, *names: str) -> list[Any]:
    def declared(name: str) -> Any:
        def handler(n: Any) -> Any:
            return n

        return ferry.task(name=name, queue=f"q-{name}")(handler)

    return [declared(name) for name in names]


def test_routes_join_at_the_stages_they_share(ferry: Ferry) -> None:
    a, b, c, d = with_tasks(ferry, *"abcd")
    shape = ferry.pipeline("abcd", a >> [b, c], [b, c] >> collect(d)).shape
    after = {stage.name: sorted(stage.after) for stage in shape.stages}
    assert after == {"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"]}
    assert shape.by_name["d"].collects == "wait"
    assert (shape.first.name, shape.last, shape.before("d")) == ("a", ("d",), ["a", "b", "c"])
    assert list(shape.following("b")) == ["d"]


def test_stages_can_be_given_by_name(ferry: Ferry) -> None:
    a, *_ = with_tasks(ferry, *"abc")
    assert [*ferry.pipeline("names", a >> "b" >> collect("c")).tasks] == ["a", "b", "c"]


def test_an_unknown_stage_is_refused_by_name(ferry: Ferry) -> None:
    a, *_ = with_tasks(ferry, "a")
    strange = Tasks().task(name="strange")(lambda n: n)
    for stage in ("strange", strange):
        with pytest.raises(TaskError, match="unknown stage 'strange'; this Ferry has a"):
            ferry.pipeline("p", a >> stage)


def test_a_circle_is_refused_with_its_way(ferry: Ferry) -> None:
    a, b, c, d = with_tasks(ferry, *"abcd")
    with pytest.raises(TaskError, match=r"goes in a circle: .* >> .*"):
        ferry.pipeline("p", a >> b >> c >> b, c >> d)


def test_a_pipeline_begins_with_one_stage(ferry: Ferry) -> None:
    a, b, c = with_tasks(ferry, *"abc")
    with pytest.raises(TaskError, match="has 2 first stages \\(a, b\\)"):
        ferry.pipeline("p", [a, b] >> c)
    with pytest.raises(TaskError, match="nothing leads to collect\\('a'\\)"):
        ferry.pipeline("p", collect(a) >> b)
    with pytest.raises(TaskError, match="an empty list of stages"):
        ferry.pipeline("p", a >> [])
    with pytest.raises(TaskError, match="is no stage"):
        ferry.pipeline("p", a >> 7)


def test_names_and_policies_are_said_once(ferry: Ferry) -> None:
    a, b, c = with_tasks(ferry, *"abc")
    ferry.pipeline("p", a)
    with pytest.raises(TaskError, match="two pipelines are named 'p'"):
        ferry.pipeline("p", b)
    with pytest.raises(TaskError, match="no pipeline is named 'x'; this Ferry has p"):
        _ = ferry.pipelines["x"]
    with pytest.raises(TaskError, match="two policies"):
        ferry.pipeline("q", a >> [b, collect(c, failed="skip")], b >> collect(c, failed="fail"))
    with pytest.raises(TaskError, match="use wait, skip, fail"):
        collect(c, failed="never")  # type: ignore[arg-type]


def test_too_many_meta_entries_are_refused_before_the_run_starts(ferry: Ferry) -> None:
    a, *_ = with_tasks(ferry, "a")
    meta = {f"name-{n}": "x" for n in range(12)}
    with pytest.raises(TaskError, match="at most 11 meta entries"):
        ferry.pipeline("p", a).using(meta=meta).push(1)


def test_what_a_stage_returns_must_fit_the_next_one(ferry: Ferry) -> None:
    @ferry.task()
    def says_text(n: int) -> str:
        return str(n)

    @ferry.task()
    def wants_number(n: int) -> int:
        return n

    @ferry.task()
    def wants_two(a: int, b: int) -> int:
        return a + b

    @ferry.task()
    def wants_numbers(found: list[int]) -> int:
        return sum(found)

    @ferry.task()
    def yields(n: int) -> Iterator[int]:
        yield n

    for route, problem in [
        (says_text >> wants_number, "it returns str, and int is wanted"),
        (says_text >> wants_two, "it returns str, not an object with a, b"),
        (says_text >> collect(wants_numbers), "collected into list"),
        (says_text >> collect(wants_two), "collect needs one parameter, a list, and it has 2"),
        (yields >> collect(wants_numbers), "nothing to collect"),
    ]:
        with pytest.raises(TaskError, match=problem):
            ferry.pipeline("p", route)
    assert [*ferry.pipelines] == []


@pytest.mark.parametrize(
    ("returned", "taken"),
    [
        (int, int),
        (int, float),
        (Any, int),
        (int | None, int),
        (list[int], int),
        (list[int], list[int]),
        (Iterator[Edition], Edition),
        (AsyncIterator[Edition], Edition),
        (Special, Edition),
        (Edition, dict),
        (dict[str, str], Edition),
        (str | int, int),
        (int, int | str),
        (None, int),
    ],
)
def test_these_fit(returned: Any, taken: Any) -> None:
    assert fits(returned, taken)


@pytest.mark.parametrize(
    ("returned", "taken"),
    [
        (str, int),
        (float, int),
        (bool, int),
        (int, bool),
        (list[str], int),
        (Iterator[str], int),
        (Edition, Other),
        (Edition, str),
        (int, list[int]),
        (dict, int),
    ],
)
def test_these_do_not_fit(returned: Any, taken: Any) -> None:
    assert not fits(returned, taken)


def test_what_is_collected_is_a_list_of_what_is_returned() -> None:
    assert item_fits(int, list[int])
    assert item_fits(int | None, list)
    assert item_fits(Any, list[int])
    assert item_fits(int, Any)
    assert not item_fits(str, list[int])
    assert not item_fits(int, int)


def test_a_stage_tells_which_queues_its_jobs_lead_into(ferry: Ferry) -> None:
    a, b, c = with_tasks(ferry, *"abc")
    ferry.pipeline("p", a >> [b, c])
    ferry.pipeline("q", b >> c)
    assert ferry.pipelines.feeds("a") == {"q-b", "q-c"}
    assert ferry.pipelines.feeds("b") == {"q-c"}
    assert ferry.pipelines.feeds("c") == frozenset()


def test_stages_of_one_queue_do_not_wait_for_each_other(ferry: Ferry) -> None:
    a, b = with_tasks(ferry, *"ab")
    c = ferry.task(name="c", queue="q-a")(lambda n: n)
    ferry.pipeline("p", a >> b >> c)
    assert ferry.pipelines.feeds("a") == {"q-b"}
    assert ferry.pipelines.feeds("b") == frozenset()
