"""Pushing inside the caller's own transaction, with psycopg and with SQLAlchemy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
import sqlalchemy
from psycopg.rows import dict_row
from sqlalchemy.orm import Session

from ferryman.backends.postgresql import connect
from ferryman.clock import SystemClock
from ferryman.errors import BackendUnavailable, InvalidMessage
from ferryman.ids import new_id
from ferryman.job import State
from ferryman.queue.heartbeat import Beat
from ferryman.testing.conformance.given import (
    WORKER,
    a_message,
    ack,
    claimed,
    claims,
    in_state,
    pushed,
    settle,
    several,
    state_of,
    the_job,
)
from tests.servers.postgres_fixtures import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.backends.postgresql import PostgresqlBackend

    Theirs = psycopg.Connection[tuple[object, ...]]


@pytest.fixture
def theirs(postgres: str, backend: PostgresqlBackend) -> Iterator[Theirs]:
    with psycopg.connect(postgres) as connection:
        yield connection
        connection.rollback()


@pytest.fixture
def engine(postgres: str, backend: PostgresqlBackend) -> Iterator[sqlalchemy.Engine]:
    engine = sqlalchemy.create_engine(postgres.replace("postgresql:", "postgresql+psycopg:"))
    yield engine
    engine.dispose()


def test_a_job_appears_with_the_callers_commit(backend: PostgresqlBackend, theirs: Theirs) -> None:
    theirs.execute("CREATE TEMP TABLE orders (number integer)")
    assert backend.push([a_message(id="x")], connection=theirs)[0].created
    assert backend.get("x") is None
    theirs.commit()
    assert state_of(backend, "x") is State.PENDING


def test_no_heartbeat_waits_for_a_handler_that_has_ended_its_job_and_not_committed(
    backend: PostgresqlBackend, postgres_url: str, theirs: Theirs
) -> None:
    several(backend, 2)
    ended, held = claims(backend, turn=1)
    assert backend.settle_within(theirs, [ack(ended)])[0].applied
    impatient = connect(f"{postgres_url}&timeout=2", SystemClock())
    try:
        beats = [Beat(held.id, held.fence)]
        [pulse] = impatient.heartbeat(WORKER, beats, lease=60, answered=1)
    finally:
        impatient.close()
    assert pulse.held
    theirs.commit()
    assert state_of(backend, ended.id) is State.COMPLETED


def test_a_large_batch_vanishes_with_the_callers_rollback(
    backend: PostgresqlBackend, theirs: Theirs
) -> None:
    backend.push([a_message(number) for number in range(100)], connection=theirs)
    theirs.rollback()
    assert backend.snapshot().count(State.PENDING) == 0


def test_a_refused_push_leaves_the_callers_transaction_usable(
    backend: PostgresqlBackend, theirs: Theirs
) -> None:
    theirs.execute("CREATE TEMP TABLE orders (number integer)")
    pushed(backend, "old", id="x")
    batch = [a_message("new", id="x"), *[a_message(number) for number in range(40)]]
    statuses = [answer.status for answer in backend.push(batch, connection=theirs)]
    assert statuses == ["conflict"] + ["created"] * 40
    theirs.execute("INSERT INTO orders VALUES (1)")
    theirs.commit()
    assert backend.snapshot().count(State.PENDING) == 41


def test_the_callers_rows_and_cursors_change_nothing(
    backend: PostgresqlBackend, postgres: str
) -> None:
    with psycopg.connect(
        postgres, row_factory=dict_row, cursor_factory=psycopg.ClientCursor
    ) as theirs:
        backend.push([a_message(id="one"), a_message(id="two", key="k")], connection=theirs)
        backend.push([a_message(number) for number in range(30)], connection=theirs)
    assert len(claims(backend)) == 32


def test_a_transaction_begun_by_hand_is_joined(backend: PostgresqlBackend, postgres: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as theirs:
        with theirs.transaction(), theirs.transaction():
            backend.push([a_message(id="x")], connection=theirs)
            assert backend.get("x") is None
        assert backend.get("x") is not None


def test_a_connection_that_commits_each_statement_is_refused(
    backend: PostgresqlBackend, postgres: str
) -> None:
    with (
        psycopg.connect(postgres, autocommit=True) as theirs,
        pytest.raises(InvalidMessage, match="begin one first"),
    ):
        backend.push([a_message(id="x")], connection=theirs)
    assert backend.get("x") is None


def test_a_connection_to_another_database_is_refused(
    backend: PostgresqlBackend, postgres_server: str
) -> None:
    with (
        psycopg.connect(postgres_server) as theirs,
        pytest.raises(InvalidMessage, match="the jobs are in"),
    ):
        backend.push([a_message()], connection=theirs)


def test_a_connection_to_a_store_of_the_same_name_in_another_database_is_refused(
    backend: PostgresqlBackend, postgres: str
) -> None:
    name = f"ferryman_test_{new_id()[-12:]}"
    other = f"{postgres.rpartition('/')[0]}/{name}"
    with psycopg.connect(postgres, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
        try:
            connect(f"{other}?schema={SCHEMA}", SystemClock()).close()
            with (
                psycopg.connect(other) as theirs,
                pytest.raises(InvalidMessage, match="is open on"),
            ):
                backend.push([a_message()], connection=theirs)
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_a_transaction_that_has_failed_is_refused(
    backend: PostgresqlBackend, theirs: Theirs
) -> None:
    with pytest.raises(psycopg.errors.DivisionByZero):
        theirs.execute("SELECT 1 / 0")
    with pytest.raises(InvalidMessage, match="roll it back"):
        backend.push([a_message()], connection=theirs)


@pytest.mark.parametrize("count", [1, 40])
def test_a_connection_in_pipeline_mode_is_refused(
    backend: PostgresqlBackend, theirs: Theirs, count: int
) -> None:
    batch = [a_message(id=f"x{number}") for number in range(count)]
    with theirs.pipeline(), pytest.raises(InvalidMessage, match=r"^connection: .*pipeline"):
        backend.push(batch, connection=theirs)
    theirs.commit()
    assert backend.get("x0") is None


def test_a_connection_that_cannot_carry_every_text_is_refused(
    backend: PostgresqlBackend, postgres: str
) -> None:
    with psycopg.connect(postgres, client_encoding="latin1") as theirs:
        with pytest.raises(InvalidMessage, match=r"^connection: .*iso8859-1.*utf8"):
            backend.push([a_message("e", id="x")], connection=theirs)
        theirs.execute("SET client_encoding = utf8")
        backend.push([a_message("日本", id="x")], connection=theirs)
    assert the_job(backend, "x").payload == "日本"


def test_a_connection_that_was_closed_is_an_outage(
    backend: PostgresqlBackend, postgres: str
) -> None:
    theirs = psycopg.connect(postgres)
    theirs.close()
    with pytest.raises(BackendUnavailable, match="nothing was written"):
        backend.push([a_message()], connection=theirs)


@pytest.mark.parametrize("count", [1, 40])
def test_a_job_that_was_settled_since_is_not_made_again_in_a_repeatable_read(
    backend: PostgresqlBackend, theirs: Theirs, count: int
) -> None:
    job = claimed(backend, "body", id="x")
    theirs.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    theirs.execute("SELECT 1")
    settle(backend, ack(job))
    batch = [a_message("body", id="x"), *[a_message() for _ in range(count - 1)]]
    with pytest.raises(BackendUnavailable):
        backend.push(batch, connection=theirs)
    theirs.rollback()
    assert backend.push([a_message("body", id="x")])[0].status == "existing"
    assert backend.snapshot().queues["mail"].states == {State.COMPLETED: 1}


def test_a_repeatable_read_can_push_new_and_known_ids(
    backend: PostgresqlBackend, theirs: Theirs
) -> None:
    in_state(backend, State.FAILED, "body", id="old")
    theirs.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
    batch = [a_message("body", id="old"), a_message("body", id="new")]
    statuses = [answer.status for answer in backend.push(batch, connection=theirs)]
    theirs.commit()
    assert statuses == ["existing", "created"]
    assert backend.snapshot().queues["mail"].states == {State.PENDING: 1, State.FAILED: 1}


def test_a_key_needs_a_transaction_that_sees_what_others_commit(
    backend: PostgresqlBackend, theirs: Theirs
) -> None:
    theirs.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    with pytest.raises(InvalidMessage, match="READ COMMITTED"):
        backend.push([a_message(key="ana")], connection=theirs)


# -- SQLAlchemy


def test_a_job_appears_with_the_commit_of_a_sqlalchemy_connection(
    backend: PostgresqlBackend, engine: sqlalchemy.Engine
) -> None:
    with engine.connect() as connection:
        backend.push([a_message(id="x")], connection=connection)
        assert backend.get("x") is None
        connection.commit()
    assert state_of(backend, "x") is State.PENDING


def test_a_job_vanishes_when_a_sqlalchemy_connection_is_closed(
    backend: PostgresqlBackend, engine: sqlalchemy.Engine
) -> None:
    with engine.connect() as connection:
        backend.push([a_message(id="x")], connection=connection)
    assert backend.get("x") is None


def test_a_job_is_part_of_a_sqlalchemy_session(
    backend: PostgresqlBackend, engine: sqlalchemy.Engine
) -> None:
    with Session(engine) as session, session.begin():
        backend.push([a_message(id="x")], connection=session)
        assert backend.get("x") is None
    with Session(engine) as session:
        backend.push([a_message(id="y")], connection=session)
        session.rollback()
    assert (backend.get("x") is None, backend.get("y") is None) == (False, True)


def test_a_sqlalchemy_connection_of_another_driver_is_refused(backend: PostgresqlBackend) -> None:
    engine = sqlalchemy.create_engine("sqlite://")
    with (
        engine.connect() as connection,
        pytest.raises(InvalidMessage, match=r"psycopg\.Connection"),
    ):
        backend.push([a_message()], connection=connection)
    engine.dispose()
