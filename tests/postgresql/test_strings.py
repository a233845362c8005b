"""Sessions in which a backslash escapes: `standard_conforming_strings = off`."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest

from ferryman import Ferry
from ferryman.backends.postgresql import connect
from ferryman.clock import SystemClock
from ferryman.filter import Filter
from ferryman.testing.conformance.given import ack, claim, claims, pushed, settle, the_job
from tests.servers.postgres_fixtures import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.backends.postgresql import PostgresqlBackend
    from tests.views.tables import Columns

    Admin = psycopg.Connection[tuple[object, ...]]

QUEUE = r"o'br\ien\u0041"
ODD = {"a": "x\0", "b": "\\u0000", "c": "\\", "n": 1}


def off(url: str) -> str:
    """The same, as if the server, the database or the role were set so."""
    return f"{url}{'&' if '?' in url else '?'}options=-cstandard_conforming_strings%3Doff"


@pytest.fixture
def session(postgres: str) -> Iterator[Admin]:
    with psycopg.connect(off(postgres), autocommit=True) as connection:
        yield connection
        connection.execute("DROP VIEW IF EXISTS mine")


@pytest.fixture
def store(new_schema_url: str, session: Admin) -> Iterator[PostgresqlBackend]:
    """A new store that was made so."""
    with closing(connect(off(new_schema_url), SystemClock())) as store:
        yield store


def test_a_job_can_be_pushed_in_sql(backend: PostgresqlBackend, session: Admin) -> None:
    pushed(backend, ODD, id="x")
    body = the_job(backend, "x").body
    push = f"SELECT created FROM {SCHEMA}.push('mail', 'send', %s, id => %s)"  # noqa: S608
    for job_id, created in (("x", False), ("y", True)):
        assert session.execute(push, (body, job_id)).fetchone() == (created,)
    assert the_job(backend, "y").payload == ODD


@pytest.mark.parametrize(
    ("task", "body", "says"),
    [
        ("a\nb", "1", "task: holds a control character"),
        ("send", '"\\ud800"', "body: holds a lone surrogate"),
        ("send", "[1, 1e+999]", "body: holds a number over"),
    ],
)
def test_what_is_refused_in_sql_is_refused_so_too(
    backend: PostgresqlBackend, session: Admin, task: str, body: str, says: str
) -> None:
    with pytest.raises(psycopg.errors.CheckViolation, match=says):
        session.execute(f"SELECT {SCHEMA}.push('mail', %s, %s)", (task, body))


def test_a_new_store_can_be_made_and_worked_with(store: PostgresqlBackend) -> None:
    pushed(store, ODD, queue=QUEUE, key=QUEUE, tenant=QUEUE, meta={"a": QUEUE})
    job = claim(store, queue=QUEUE)
    assert (job.payload, job.meta) == (ODD, {"a": QUEUE})
    assert settle(store, ack(job)).applied


@pytest.mark.parametrize("text", ["payload.n:1", r'payload.c:"\\"', "payload.name:ana"])
def test_a_payload_is_found(store: PostgresqlBackend, session: Admin, text: str) -> None:
    schema = store._database.location.schema
    body = r'{"n": 1, "c": "\\", "name": "\u0061na"}'
    session.execute(f"SELECT {schema}.push('mail', 'send', %s, id => 'x')", (body,))
    pushed(store, {"n": 2, "c": "/", "name": "ben"})
    assert [job.id for job in store.list(Filter.parse(text)).jobs] == ["x"]


def test_a_view_of_names_with_backslashes_is_read_and_takes_rows(
    new_schema_url: str, session: Admin
) -> None:
    states = {"pending": r"n\ew'"}
    columns: Columns = {"id": "id", "status": states, "n": "payload.n:integer", "a": "payload.a"}
    with Ferry(off(new_schema_url)) as ferry:
        for _ in range(2):
            ferry.view("mine", QUEUE, columns, task=r"s\end")
        ferry.push(r"s\end", ODD, queue=QUEUE, id="x")
        row = session.execute(
            "INSERT INTO mine VALUES ('y', %s, 2, %s) RETURNING status, n, a", (r"n\ew'", r"a\b")
        ).fetchone()
        assert row == (r"n\ew'", 2, r"a\b")
        rows = session.execute("SELECT id, status, n, a FROM mine ORDER BY id").fetchall()
        assert rows == [("x", r"n\ew'", 1, None), ("y", r"n\ew'", 2, r"a\b")]
        with pytest.raises(psycopg.errors.CheckViolation, match="a new job is"):
            session.execute("INSERT INTO mine (status) VALUES ('new')")
        jobs = {job.id: job.task for job in claims(ferry.backend, queue=QUEUE)}
    assert jobs == {"x": r"s\end", "y": r"s\end"}
