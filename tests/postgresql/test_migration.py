"""A store is brought up to date while workers of the version before go on."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from ferryman.backends.postgresql import PostgresqlBackend, connect, connection, statements
from ferryman.backends.postgresql.push import push
from ferryman.backends.postgresql.statements import VERSIONS
from ferryman.clock import SystemClock
from ferryman.job import State
from ferryman.testing.conformance.given import (
    a_message,
    ack,
    beat,
    claim,
    claimed,
    claims,
    nack,
    pushed,
    settle,
    several,
    state_of,
)
from ferryman.testing.waiting import wait_until
from tests.postgresql.held import Held

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Opens = Callable[[], PostgresqlBackend]
    Admin = psycopg.Connection[tuple[object, ...]]

WAITING = """
SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
"""

TO_COME = """
ALTER TABLE jobs ADD COLUMN colour text COLLATE "C" NOT NULL DEFAULT 'grey';
ALTER TABLE history ADD COLUMN colour text COLLATE "C" NOT NULL DEFAULT 'grey';
CREATE INDEX colours ON jobs (colour, seq);
CREATE OR REPLACE FUNCTION check_backoff(backoff text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    RAISE check_violation USING MESSAGE = 'backoffs are out of fashion';
END
$$;
"""
"""What a later version may do: columns for both tables, an index, a function that is replaced."""


@pytest.fixture
def old(new_schema_url: str) -> Iterator[PostgresqlBackend]:
    """A worker of the version before the one to come."""
    store = connect(new_schema_url, SystemClock())
    yield store
    store.close()


@pytest.fixture
def new(new_schema_url: str, monkeypatch: pytest.MonkeyPatch) -> Opens:
    """Opens the store as a worker of the version to come."""

    def open_store() -> PostgresqlBackend:
        with monkeypatch.context() as later:
            for module in (statements, connection):
                later.setattr(module, "VERSIONS", (*VERSIONS, TO_COME))
            return connect(new_schema_url, SystemClock())

    return open_store


def schema_of(url: str) -> str:
    return parse_qs(urlsplit(url).query)["schema"][0]


def version(admin: Admin, url: str) -> int:
    [(found,)] = admin.execute(f"SELECT version FROM {schema_of(url)}.about").fetchall()  # noqa: S608
    return int(str(found))


def session(store: PostgresqlBackend) -> tuple[int, int]:
    """The connection that is lent next, and how many statements are prepared there."""
    with store._database.lent() as lent:
        [(prepared,)] = lent.execute("SELECT count(*) FROM pg_prepared_statements").fetchall()
        return lent.info.backend_pid, prepared


def every_verb(store: PostgresqlBackend, connections: str) -> None:
    """What a worker and its producers do all day; it leaves nothing in the queue."""
    job = claimed(store, {"to": "ana"})
    beat(store, job, percent=50)
    settle(store, nack(job, delay=0))
    job = claim(store)
    assert settle(store, ack(job, "1", children=[a_message("child")])).state is State.COMPLETED
    ids = several(store, 30)
    again = [a_message(number, id=job_id) for number, job_id in enumerate(ids)]
    assert {answer.status for answer in store.push(again)} == {"existing"}
    pushed(store, key="ana", meta={"user_id": "42"})
    pushed(store, tenant="acme")
    with psycopg.connect(connections) as theirs:
        store.push([a_message("inside")], connection=theirs)
        theirs.execute(*store.push_statement(a_message("by statement"), "format"))
    ends = [ack(each) for each in claims(store)]
    assert len(ends) == 35
    assert {receipt.state for receipt in store.settle(ends)} == {State.COMPLETED}
    assert store.reap() == []


def test_workers_of_the_version_before_go_on(
    old: PostgresqlBackend, new: Opens, new_schema_url: str, postgres: str, postgres_admin: Admin
) -> None:
    every_verb(old, postgres)
    waiting, held = pushed(old, id="pushed before"), claimed(old, queue="post", id="claimed before")
    process, prepared = session(old)
    assert prepared > 5
    assert version(postgres_admin, new_schema_url) == len(VERSIONS)
    new().close()
    assert version(postgres_admin, new_schema_url) == len(VERSIONS) + 1
    assert beat(old, held).held
    assert settle(old, ack(held)).state is State.COMPLETED
    assert settle(old, ack(claim(old))).job_id == waiting
    every_verb(old, postgres)
    assert session(old)[0] == process


def test_old_and_new_workers_share_the_store(
    old: PostgresqlBackend, new: Opens, postgres: str
) -> None:
    every_verb(old, postgres)
    with closing(new()) as newer:
        every_verb(newer, postgres)
        pushed(old, id="of the old")
        settle(newer, ack(claim(newer)))
        pushed(newer, id="of the new")
        settle(old, ack(claim(old)))
        for job_id in ("of the old", "of the new"):
            assert {state_of(store, job_id) for store in (old, newer)} == {State.COMPLETED}


def test_nothing_fails_in_the_moment_of_the_change(
    old: PostgresqlBackend, new: Opens, new_schema_url: str, postgres_admin: Admin
) -> None:
    turns, enough = count(), threading.Event()
    done = [0]

    def work() -> None:
        while not enough.is_set():
            settle(old, ack(claimed(old, queue=f"of {threading.get_ident()}")))
            done[0] = next(turns)

    def go_on() -> None:
        goal = done[0] + 50
        wait_until(lambda: done[0] > goal or any(each.done() for each in workers), what="work")

    with ThreadPoolExecutor(3) as pool:
        workers = [pool.submit(work) for _ in range(3)]
        try:
            go_on()
            new().close()
            go_on()
        finally:
            enough.set()
    for worker in workers:
        worker.result()
    assert version(postgres_admin, new_schema_url) == len(VERSIONS) + 1


def test_a_transaction_that_began_before_ends_well(
    old: PostgresqlBackend, new: Opens, postgres_admin: Admin
) -> None:
    open_push = Held(old, lambda tx: push(tx, [a_message(id="x", key="ana")]))
    with ThreadPoolExecutor(1) as pool:
        migration = pool.submit(lambda: new().close())
        wait_until(
            lambda: migration.done() or postgres_admin.execute(WAITING).rowcount > 0,
            what="the migration to wait or be done",
        )
        open_push.commit()
        migration.result(20)
    assert claim(old).id == "x"


def test_a_poll_during_which_a_column_is_added_finds_its_job(
    old: PostgresqlBackend, new: Opens, postgres_admin: Admin
) -> None:
    settle(old, ack(claimed(old)))
    pushed(old, id="x")
    pausing = Held(old, lambda tx: tx.run("lock_queue", {"queue": "mail"}))
    with ThreadPoolExecutor(1) as pool:
        polled = pool.submit(claim, old)
        wait_until(lambda: postgres_admin.execute(WAITING).rowcount > 0, what="the poll to wait")
        new().close()
        pausing.commit()
        assert polled.result(20).id == "x"


def test_the_function_for_others_is_the_same_to_a_session_that_prepared_it(
    old: PostgresqlBackend, new: Opens, new_schema_url: str, postgres_admin: Admin
) -> None:
    push = f"{schema_of(new_schema_url)}.push"
    call = f"SELECT created FROM {push}('mail', 'send', %s)"  # noqa: S608
    assert postgres_admin.execute(call, ("1",), prepare=True).fetchall() == [(True,)]
    new().close()
    assert postgres_admin.execute(call, ("2",), prepare=True).fetchall() == [(True,)]
    with pytest.raises(psycopg.errors.CheckViolation, match="out of fashion"):
        postgres_admin.execute(f"SELECT {push}('mail', 'send', backoff => '1,2,3,0')")
    assert [job.payload for job in claims(old)] == [1, 2]
