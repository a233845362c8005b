"""What pushes give back: handles, alone and of many jobs, and when two of them are equal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman import Ferry
from ferryman.testing import drain

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def ferry() -> Iterator[Ferry]:
    with Ferry("memory://") as ferry:
        yield ferry


def test_the_handles_of_many_pushes_are_a_sequence_in_their_order(ferry: Ferry) -> None:
    @ferry.task()
    def double(number: int) -> int:
        return number * 2

    handles = double.push_many([1, 2, 3])
    assert list(double.push_many([])) == []
    drain(ferry)
    assert [handle.result(0) for handle in handles] == [2, 4, 6]
    assert [handle.result(0) for handle in handles[1:]] == [4, 6]
    assert (handles[-1].id, handles[-1].created) == (list(handles)[2].id, True)
    assert handles.index(handles[1]) == 1
    assert len({*handles, *handles}) == 3
    assert repr(handles) == "<Handles of 3 jobs>"


def test_the_handles_of_many_pushes_equal_any_sequence_of_equal_handles(ferry: Ferry) -> None:
    @ferry.task()
    def double(number: int) -> int:
        return number * 2

    handles = double.push_many([1, 2, 3])
    for equal in (handles[:], list(handles), tuple(handles)):
        assert handles == equal
        assert equal == handles
    for other in (handles[:2], list(handles)[::-1], {*handles}):
        assert handles != other
    with pytest.raises(TypeError, match="unhashable"):
        hash(handles)


def test_handles_of_one_job_are_equal_and_those_of_two_stores_are_not(ferry: Ferry) -> None:
    first, again = (ferry.push("t", 1, id="same") for _ in range(2))
    assert (first, hash(first)) == (again, hash(again))
    assert first.created is not again.created
    with Ferry("memory://") as other:
        assert other.push("t", 1, id="same") != first


def test_many_pushes_under_one_id_are_one_job(ferry: Ferry) -> None:
    @ferry.task()
    def double(number: int) -> int:
        return number * 2

    handles = double.using(id="one").push_many([(4,), (4,)])
    assert [(handle.id, handle.created) for handle in handles] == [("one", True), ("one", False)]
