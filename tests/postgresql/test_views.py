"""Views in a database that others use, too: made by several at once, granted, built upon."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from ferryman import Ferry, InvalidView
from ferryman.backends.postgresql import PostgresqlBackend, connect
from ferryman.backends.postgresql.views import create_view
from ferryman.clock import SystemClock
from ferryman.ids import new_id
from ferryman.queue.view import View
from ferryman.testing.conformance.given import pushed, the_job
from tests.postgresql.held import Held, beside
from tests.servers.postgres_fixtures import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import psycopg

    Admin = psycopg.Connection[tuple[object, ...]]

COLUMNS = {"id": "id", "n": "payload.n:integer"}


def a_view(columns: Mapping[str, str] = COLUMNS) -> View:
    return View.of("mine", "mail", columns, "send")


@pytest.fixture(autouse=True)
def _no_views(postgres_admin: Admin) -> Iterator[None]:
    yield
    postgres_admin.execute("DROP VIEW IF EXISTS mine CASCADE")


@pytest.fixture
def reader(postgres_admin: Admin) -> Iterator[str]:
    """A role that may do nothing."""
    name = f"reader_{new_id()[-12:]}"
    postgres_admin.execute(f"CREATE ROLE {name}")
    yield name
    postgres_admin.execute(f"DROP OWNED BY {name}")
    postgres_admin.execute(f"DROP ROLE {name}")


def as_role(admin: Admin, role: str, statement: str) -> list[tuple[object, ...]]:
    with admin.transaction():
        admin.execute(f"SET LOCAL ROLE {role}")
        return admin.execute(statement).fetchall()


def schemas(admin: Admin) -> tuple[str, str]:
    names = (f"one_{new_id()[-12:]}", f"two_{new_id()[-12:]}")
    for name in names:
        admin.execute(f"CREATE SCHEMA {name}")
    return names


# -- several at once


def test_whoever_comes_second_waits_for_the_first_and_finds_it_made(
    backend: PostgresqlBackend, postgres_url: str, postgres_admin: Admin
) -> None:
    first = Held(backend, lambda tx: create_view(tx, SCHEMA, a_view()))
    with (
        closing(connect(postgres_url, SystemClock())) as other,
        beside(postgres_admin, lambda: other.create_view(a_view())) as second,
    ):
        assert not second.done()
        first.commit()
        second.result(10)
    assert postgres_admin.execute("SELECT * FROM mine").fetchall() == []


def test_whoever_comes_second_makes_it_if_the_first_fails(
    backend: PostgresqlBackend, postgres_url: str, postgres_admin: Admin
) -> None:
    first = Held(backend, lambda tx: create_view(tx, SCHEMA, a_view()))
    with (
        closing(connect(postgres_url, SystemClock())) as other,
        beside(postgres_admin, lambda: other.create_view(a_view())) as second,
    ):
        first.roll_back()
        second.result(10)
    assert postgres_admin.execute("SELECT * FROM mine").fetchall() == []


def test_six_who_start_together_make_and_change_one_view(
    postgres_url: str, postgres_admin: Admin
) -> None:
    versions = [{"id": "id"}, {"id": "id", "n": "payload.n"}, {"task": "task"}]
    with ExitStack() as stack, ThreadPoolExecutor(6) as pool:
        stores = [
            stack.enter_context(closing(connect(postgres_url, SystemClock()))) for _ in range(6)
        ]
        together = Barrier(6)

        def start(store: PostgresqlBackend) -> None:
            for columns in versions:
                together.wait(10)
                store.create_view(a_view(columns))

        list(pool.map(start, stores))
        pushed(stores[0])
    assert postgres_admin.execute("SELECT * FROM mine").fetchall() == [("send",)]


def test_a_view_that_is_there_is_not_waited_for(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    backend.create_view(a_view())
    with postgres_admin.transaction():
        postgres_admin.execute("SELECT * FROM mine")
        postgres_admin.execute("LOCK TABLE mine IN SHARE MODE")
        backend.create_view(a_view())


# -- what others have made of it


def test_a_view_that_changes_keeps_its_grants(
    backend: PostgresqlBackend, postgres_admin: Admin, reader: str
) -> None:
    pushed(backend, {"n": 1})
    backend.create_view(a_view())
    postgres_admin.execute(f"GRANT SELECT ON mine TO {reader}")
    backend.create_view(a_view({**COLUMNS, "tenths": "payload.n:real"}))
    assert as_role(postgres_admin, reader, "SELECT n, tenths FROM mine") == [(1, 1.0)]


def test_a_reader_needs_nothing_but_the_view(
    backend: PostgresqlBackend, postgres_admin: Admin, reader: str
) -> None:
    columns = {
        **{kind: f"payload.a:{kind}" for kind in ("text", "integer", "real", "boolean", "json")},
        "moment": "payload.b:time",
    }
    backend.create_view(a_view(columns))
    pushed(backend, {"a": 2, "b": "2026-03-01", "c": "\0"})
    postgres_admin.execute(f"GRANT SELECT ON mine TO {reader}")
    [row] = as_role(postgres_admin, reader, "SELECT text, integer, moment::date::text FROM mine")
    assert row == ("2", 2, "2026-03-01")


def test_a_view_that_others_are_made_of_may_get_more_columns(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    backend.create_view(a_view())
    postgres_admin.execute("CREATE VIEW report AS SELECT count(*) FROM mine")
    backend.create_view(a_view({**COLUMNS, "task": "task"}))
    assert postgres_admin.execute("SELECT * FROM report").fetchall() == [(0,)]


def test_other_columns_below_a_view_of_others_are_refused_and_nothing_is_changed(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    backend.create_view(a_view())
    postgres_admin.execute("CREATE VIEW report AS SELECT count(*) FROM mine")
    with pytest.raises(InvalidView, match=r"'mine'.*view report depends on view mine.*drop that"):
        backend.create_view(a_view({"task": "task"}))
    assert postgres_admin.execute("SELECT id, n FROM mine").fetchall() == []
    postgres_admin.execute("DROP VIEW report")
    backend.create_view(a_view({"task": "task"}))
    assert postgres_admin.execute("SELECT task FROM mine").fetchall() == []


# -- in several schemas


def test_views_of_one_name_in_two_schemas_push_each_its_own(
    postgres_url: str, postgres_admin: Admin
) -> None:
    places = schemas(postgres_admin)
    for place in places:
        with Ferry(f"{postgres_url}&options=-csearch_path%3D{place}") as ferry:
            ferry.view("mine", place, {"id": "id", "n": "payload.n:integer"}, task=place)
    for place in places:
        postgres_admin.execute(f"INSERT INTO {place}.mine (id, n) VALUES ('{place}', 1)")  # noqa: S608
    with closing(connect(postgres_url, SystemClock())) as store:
        jobs = [the_job(store, place) for place in places]
    assert [(job.queue, job.task) for job in jobs] == [(place, place) for place in places]


def test_a_view_of_another_store_is_not_taken_over(
    backend: PostgresqlBackend, new_schema_url: str, postgres_admin: Admin
) -> None:
    backend.create_view(a_view())
    with closing(connect(new_schema_url, SystemClock())) as other:
        for columns in (COLUMNS, {"task": "task"}):
            with pytest.raises(InvalidView, match="'mine' is of another store"):
                other.create_view(a_view(columns))
        postgres_admin.execute("INSERT INTO mine (id, n) VALUES ('x', 1)")
        assert other.get("x") is None
    assert the_job(backend, "x").payload == {"n": 1}
    backend.create_view(a_view({**COLUMNS, "task": "task"}))
    assert postgres_admin.execute("SELECT * FROM mine").fetchall() == [("x", 1, "send")]


def test_without_a_schema_for_tables_it_is_said_what_is_missing(postgres_url: str) -> None:
    url = f"{postgres_url}&options=-csearch_path%3Dnowhere"
    with Ferry(url) as ferry, pytest.raises(InvalidView, match="search_path"):
        ferry.view("mine", "mail", COLUMNS)


def test_a_view_may_have_the_name_of_a_table_of_the_server(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    view = View.of("pg_class", "mail", COLUMNS, "send")
    try:
        backend.create_view(view)
        backend.create_view(view)
        assert postgres_admin.execute("SELECT * FROM public.pg_class").fetchall() == []
    finally:
        postgres_admin.execute("DROP VIEW IF EXISTS public.pg_class")


# -- rows that say odd things


@pytest.mark.parametrize(
    "escape", [r"\u0000", r"\ud800", r"\uDC00\uD800", r"\ude00", r"\ud83d\ud83d\ude00"]
)
def test_what_is_no_text_hides_only_itself(
    backend: PostgresqlBackend, postgres_admin: Admin, escape: str
) -> None:
    columns = {"n": "payload.n:integer", "t": "payload.t", "same": "payload.t:json"}
    backend.create_view(a_view(columns))
    pushed(backend, id="x")
    body = rf'{{"{escape}": "{escape}", "n": 1, "t": "a{escape}b\\ud800"}}'
    postgres_admin.execute(f"UPDATE {SCHEMA}.jobs SET body = %s WHERE id = 'x'", (body,))  # noqa: S608
    row = postgres_admin.execute("SELECT n, t, same::text FROM mine").fetchone()
    assert row == (1, None, rf'"a{escape}b\\ud800"')


def test_a_pair_that_is_escaped_is_text(backend: PostgresqlBackend, postgres_admin: Admin) -> None:
    backend.create_view(a_view({"t": "payload.t"}))
    postgres_admin.execute(
        f"SELECT {SCHEMA}.push('mail', 'send', %s)",
        (r'{"t": "\ud83d\uDE00 \u00e9", "u": "\u0000"}',),
    )
    assert postgres_admin.execute("SELECT t FROM mine").fetchall() == [("\U0001f600 é",)]


def test_an_inserted_row_may_have_columns_of_every_type(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    columns = {
        "id": "id",
        "share": "payload.share:real",
        "moment": "payload.moment:time",
        "ok": "payload.ok:boolean",
        "owner": "meta.owner:integer",
    }
    backend.create_view(a_view(columns))
    row = postgres_admin.execute(
        "INSERT INTO mine VALUES ('x', 0.25, '2026-03-01 00:00+00', true, 42) "
        "RETURNING share, moment = '2026-03-01 00:00+00', ok, owner"
    ).fetchone()
    assert row == (0.25, True, True, 42)
    job = the_job(backend, "x")
    assert (job.payload["share"], job.meta) == (0.25, {"owner": "42"})
