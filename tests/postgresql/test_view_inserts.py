"""Rows that are inserted into a view, and what of them becomes a job."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psycopg
import psycopg.sql
import pytest

from ferryman.queue.view import View
from ferryman.testing.conformance.given import the_job

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ferryman.backends.postgresql import PostgresqlBackend
    from ferryman.job import Job

    Admin = psycopg.Connection[tuple[object, ...]]
    Insert = Callable[..., Job]


@pytest.fixture
def view(backend: PostgresqlBackend, postgres_admin: Admin) -> Iterator[Callable[..., Insert]]:
    """Makes a view of columns, beside the id; what it answers inserts a row and finds its job."""

    def make(**columns: str) -> Insert:
        backend.create_view(View.of("mine", "mail", {"id": "id", **columns}, "send"))
        return insert

    def insert(**row: Any) -> Job:
        # Unlike a parameter, a literal is of whatever type its column is.
        values = [psycopg.sql.Literal(str(value)) for value in row.values()]
        names = [psycopg.sql.Identifier(name) for name in row]
        statement = psycopg.sql.SQL("INSERT INTO mine ({}) VALUES ({}) RETURNING id").format(
            *(psycopg.sql.SQL(", ").join(each) for each in (names, values))
        )
        [(job_id,)] = postgres_admin.execute(statement).fetchall()
        return the_job(backend, str(job_id))

    yield make
    postgres_admin.execute("DROP VIEW IF EXISTS mine")


# -- nulls


@pytest.mark.parametrize(
    "value", ['{"b": null}', '{"b": {"c": null, "d": [null, {"e": null}]}}', "[null]", "null"]
)
def test_nulls_inside_a_column_are_kept(view: Callable[..., Insert], value: str) -> None:
    insert = view(a="payload.a:json", deep="payload.x.y:json")
    job = insert(a=value, deep=value)
    assert job.payload == {"a": json.loads(value), "x": {"y": json.loads(value)}}


def test_nulls_inside_a_whole_payload_are_kept(view: Callable[..., Insert]) -> None:
    payload = {"a": None, "b": {"c": None}}
    assert view(payload="payload")(payload=json.dumps(payload)).payload == payload
    both = view(payload="payload", n="payload.n:integer")
    assert both(payload=json.dumps(payload), n=1).payload == {**payload, "n": 1}


def test_columns_that_are_null_are_left_out_and_groups_with_them(
    view: Callable[..., Insert],
) -> None:
    insert = view(
        a="payload.a",
        one="payload.group.one",
        two="payload.group.two:integer",
        deep="payload.group.inner.deep:json",
        owner="meta.owner",
        id_of="meta.id_of:integer",
    )
    assert (insert(a="x").payload, insert(a="x").meta) == ({"a": "x"}, {})
    assert insert(two=2).payload == {"group": {"two": 2}}
    assert insert(deep="{}").payload == {"group": {"inner": {"deep": {}}}}
    assert insert(id="nothing").payload == {}
    assert insert(id_of=7).meta == {"id_of": "7"}


# -- what JSON has no words for


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("column", ["payload.share:real", "payload.a.share:real", "payload:real"])
def test_a_number_that_json_does_not_know_is_refused(
    view: Callable[..., Insert], number: str, column: str
) -> None:
    insert = view(share=column)
    with pytest.raises(psycopg.errors.CheckViolation, match="share: JSON has no such number"):
        insert(share=number)
    assert insert(share="1e300").state == "pending"


# -- a whole payload beside parts of it


@pytest.mark.parametrize("kind", ["json", "text"])
def test_an_object_takes_parts(view: Callable[..., Insert], kind: str) -> None:
    insert = view(payload=f"payload:{kind}", x="payload.x:integer", y="payload.y")
    assert insert(payload='{"x": 1, "z": 2}', x=3).payload == {"x": 3, "z": 2}
    assert insert(payload='{"x": 1}').payload == {"x": 1}
    assert insert(x=3).payload == {"x": 3}


@pytest.mark.parametrize("payload", ["[1, 2]", '"abc"', "5", "null", "true", "[]"])
def test_what_is_no_object_is_kept_and_takes_no_parts(
    view: Callable[..., Insert], payload: str
) -> None:
    insert = view(payload="payload", x="payload.x:integer")
    assert insert(payload=payload).payload == json.loads(payload)
    with pytest.raises(psycopg.errors.CheckViolation, match="payload: only an object takes"):
        insert(payload=payload, x=5)


# -- columns of other types than their fields


@pytest.mark.parametrize(
    ("column", "value", "field", "kept"),
    [
        ("priority:text", "7", "priority", 7),
        ("priority:real", "7", "priority", 7),
        ("priority:json", "7", "priority", 7),
        ("max_attempts:text", "7", "max_attempts", 7),
        ("max_attempts:json", "7", "max_attempts", 7),
        ("max_retries:text", "7", "max_attempts", 8),
        ("max_retries:real", "7", "max_attempts", 8),
        ("key:integer", "7", "key", "7"),
        ("key:boolean", "true", "key", "true"),
        ("key:json", '"ana"', "key", "ana"),
        ("correlation_id:integer", "7", "correlation_id", "7"),
        ("correlation_id:json", '"ana"', "correlation_id", "ana"),
        ("payload:integer", "7", "payload", 7),
        ("payload:time", "2026-03-01 00:00+00", "payload", "2026-03-01T00:00:00+00:00"),
        ("state:json", '"pending"', "state", "pending"),
    ],
)
def test_a_column_of_another_type_is_taken_over(
    view: Callable[..., Insert], column: str, value: str, field: str, kept: object
) -> None:
    assert getattr(view(c=column)(c=value), field) == kept


@pytest.mark.parametrize("kind", ["text", "integer", "real", "boolean", "json", "time"])
def test_columns_of_any_type_may_be_left_out(view: Callable[..., Insert], kind: str) -> None:
    fields = ("priority", "max_attempts", "key", "correlation_id", "payload", "state")
    job = view(**{field: f"{field}:{kind}" for field in fields})(id="x")
    assert (job.priority, job.max_attempts, job.key, job.payload) == (0, 5, None, None)
