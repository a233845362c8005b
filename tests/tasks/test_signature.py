"""How a handler's arguments travel as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

from ferryman import Ferry, InvalidMessage, Job, TaskError
from ferryman.testing import assert_pushed, drain

if TYPE_CHECKING:
    from collections.abc import Iterator


class Edition(BaseModel):
    number: int
    day: datetime
    tags: list[str] = []


@dataclass
class Point:
    x: int
    y: int


@pytest.fixture
def ferry() -> Iterator[Ferry]:
    with Ferry("memory://") as ferry:
        yield ferry


def test_one_parameter_travels_as_its_value(ferry: Ferry) -> None:
    @ferry.task()
    def greet(name: str) -> None: ...

    greet.push("Ada")
    assert assert_pushed(ferry, "greet").body == '"Ada"'


def test_several_parameters_travel_as_an_object_with_their_defaults(ferry: Ferry) -> None:
    @ferry.task()
    def add(a: int, b: int = 2, *, c: int = 3) -> None: ...

    add.push(1, c=9)
    assert assert_pushed(ferry, "add").payload == {"a": 1, "b": 2, "c": 9}


def test_no_parameters_travel_as_null(ferry: Ferry) -> None:
    @ferry.task()
    def tick() -> None: ...

    tick.push()
    assert assert_pushed(ferry, "tick").payload is None


def test_the_job_is_not_part_of_the_payload(ferry: Ferry) -> None:
    seen: list[Any] = []

    @ferry.task()
    def where(name: str, job: Job) -> None:
        seen.append((name, job.queue))

    where.push("here")
    drain(ferry)
    assert seen == [("here", "default")]


def test_models_are_checked_at_push_and_rebuilt_for_the_handler(ferry: Ferry) -> None:
    seen: list[Edition] = []

    @ferry.task()
    def archive(edition: Edition) -> Edition:
        seen.append(edition)
        return edition

    edition = Edition(number=7, day=datetime(2026, 1, 2, tzinfo=UTC))
    handle = archive.push(edition)
    assert assert_pushed(ferry, "archive").payload["day"] == "2026-01-02T00:00:00Z"
    drain(ferry)
    assert seen == [edition]
    assert handle.result(0) == edition


def test_a_model_that_does_not_fit_is_refused_at_push_by_field(ferry: Ferry) -> None:
    @ferry.task()
    def archive(edition: Edition) -> None: ...

    with pytest.raises(InvalidMessage, match=r"payload\.edition\.number") as refused:
        archive.push({"number": "seven", "day": "2026-01-02T00:00:00Z"})  # type: ignore[arg-type]
    assert refused.value.field == "payload.edition.number"
    assert ferry.backend.snapshot().queues == {}


def test_dataclasses_dates_and_lists_of_models_travel_too(ferry: Ferry) -> None:
    seen: list[Any] = []

    @ferry.task()
    def draw(points: list[Point], at: datetime | None = None) -> Point:
        seen.append((points, at))
        return points[0]

    at = datetime(2026, 1, 2, tzinfo=UTC)
    handle = draw.push([Point(1, 2)], at)
    drain(ferry)
    assert seen == [([Point(1, 2)], at)]
    assert handle.result(0) == Point(1, 2)


@pytest.mark.parametrize(
    ("value", "problem"),
    [("3", "must be int, not str"), (True, "must be int, not bool"), (None, "not NoneType")],
)
def test_a_wrong_plain_type_is_refused_by_name(ferry: Ferry, value: Any, problem: str) -> None:
    @ferry.task()
    def count(number: int) -> None: ...

    with pytest.raises(InvalidMessage, match=problem) as refused:
        count.push(value)
    assert refused.value.field == "payload.number"


def test_a_missing_or_surplus_argument_is_refused(ferry: Ferry) -> None:
    @ferry.task()
    def add(a: int, b: int) -> None: ...

    with pytest.raises(InvalidMessage, match="'b'"):
        add.push(1)  # type: ignore[call-arg]
    with pytest.raises(InvalidMessage, match="too many"):
        add.push(1, 2, 3)  # type: ignore[call-arg]


def test_a_push_by_name_is_checked_against_a_known_task(ferry: Ferry) -> None:
    @ferry.task()
    def add(a: int, b: int = 2) -> None: ...

    ferry.push("add", {"a": 1})
    with pytest.raises(InvalidMessage, match=r"payload\.a: task 'add' needs it"):
        ferry.push("add", {"b": 1})
    with pytest.raises(InvalidMessage, match=r"payload\.z"):
        ferry.push("add", {"a": 1, "z": 1})
    with pytest.raises(InvalidMessage, match="wants an object with a, b"):
        ferry.push("add", 5)


def test_star_arguments_cannot_be_declared(ferry: Ferry) -> None:
    def anything(*args: int) -> None: ...

    with pytest.raises(TaskError, match=r"\*args cannot travel"):
        ferry.task()(anything)


def test_pydantic_is_imported_only_when_used() -> None:
    import subprocess
    import sys

    code = (
        "import sys\n"
        "from ferryman import Ferry\n"
        "ferry = Ferry('memory://')\n"
        "@ferry.task()\n"
        "def add(a: int, b: float | None = None) -> dict: return {}\n"
        "add.push(1)\n"
        "assert 'pydantic' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
