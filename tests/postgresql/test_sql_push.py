"""`push` for producers that speak only SQL."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from ferryman.errors import InvalidMessage
from ferryman.job import State
from ferryman.queue.arrival import as_message
from ferryman.testing.conformance.given import (
    a_message,
    claim,
    claims,
    in_state,
    pushed,
    the_job,
)
from tests.postgresql.held import beside
from tests.servers.postgres_fixtures import SCHEMA

if TYPE_CHECKING:
    from ferryman.backends.postgresql import PostgresqlBackend
    from ferryman.message import Message

    Admin = psycopg.Connection[tuple[object, ...]]

PUSH = f"SELECT job_id, created FROM {SCHEMA}.push"  # noqa: S608


def one(admin: Admin, statement: str) -> tuple[object, ...]:
    row = admin.execute(f"{PUSH}({statement})").fetchone()
    assert row is not None
    return row


def test_a_job_of_two_words(backend: PostgresqlBackend, postgres_admin: Admin) -> None:
    job_id, created = one(postgres_admin, "'mail', 'send'")
    job = claim(backend)
    assert (job.id, created, job.payload, job.max_attempts) == (job_id, True, None, 5)


def test_every_option_by_name(backend: PostgresqlBackend, postgres_admin: Admin) -> None:
    one(
        postgres_admin,
        """'mail', 'send', ' {"to": "ana", "n": [1, 2.5, "\\u0000"]} ', id => 'x', priority => 10,
        delay => 60, expires => 600, key => 'ana', max_attempts => 2, version => 3, timeout => 9.5,
        correlation_id => 'request-1', meta => '{"user_id": "42"}'""",
    )
    job = the_job(backend, "x")
    assert job.payload == {"to": "ana", "n": [1, 2.5, "\0"]}
    assert (job.priority, job.key, job.max_attempts, job.version) == (10, "ana", 2, 3)
    assert (job.timeout, job.correlation_id, job.meta) == (9.5, "request-1", {"user_id": "42"})
    assert 590 < (job.deadline or 0) - time.time() < 610
    assert 50 < job.ready_at - time.time() < 70


def test_the_same_work_again_is_known(backend: PostgresqlBackend, postgres_admin: Admin) -> None:
    in_state(backend, State.COMPLETED, {"a": 1, "b": 2}, id="x")
    again = one(postgres_admin, """'mail', 'send', '{"b": 2, "a": 1}', id => 'x'""")
    assert again == ("x", False)


def test_other_work_is_a_violation(backend: PostgresqlBackend, postgres_admin: Admin) -> None:
    pushed(backend, "old", id="x")
    with pytest.raises(psycopg.errors.UniqueViolation, match="other work"):
        one(postgres_admin, "'mail', 'send', '\"new\"', id => 'x'")


@pytest.mark.parametrize(
    ("body", "known"),
    [
        (r'{"a":"x\u0000","b":1}', True),
        (r'{ "b" : 1, "a" : "x\u0000" }', True),
        (r'{"a":"x\u0001","b":1}', False),
        (r'{"a":"x\\u0000","b":1}', False),
        ('{"a":"x","b":1}', False),
    ],
)
def test_work_that_holds_nul_is_told_from_other_work(
    backend: PostgresqlBackend, postgres_admin: Admin, body: str, known: bool
) -> None:
    pushed(backend, {"a": "x\0", "b": 1}, id="x")
    again = f"'mail', 'send', '{body}', id => 'x'"
    if known:
        assert one(postgres_admin, again) == ("x", False)
    else:
        with pytest.raises(psycopg.errors.UniqueViolation, match="other work"):
            one(postgres_admin, again)


def test_a_key_that_is_held_answers_with_its_job(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    pushed(backend, id="x", key="ana")
    assert one(postgres_admin, "'mail', 'send', key => 'ana'") == ("x", False)
    assert one(postgres_admin, "'post', 'send', key => 'ana'")[1] is True


def test_of_two_pushes_of_one_key_the_second_waits_for_the_first(
    backend: PostgresqlBackend, postgres: str, postgres_admin: Admin
) -> None:
    with (
        psycopg.connect(postgres, application_name=SCHEMA) as first,
        psycopg.connect(postgres, application_name=SCHEMA) as second,
    ):
        assert one(first, "'mail', 'send', id => 'x', key => 'ana'") == ("x", True)
        with beside(postgres_admin, lambda: one(second, "'mail', 'send', key => 'ana'")) as answer:
            first.commit()
            assert answer.result() == ("x", False)


@pytest.mark.parametrize("level", ["REPEATABLE_READ", "SERIALIZABLE"])
def test_a_key_needs_a_transaction_that_sees_what_others_commit(
    backend: PostgresqlBackend, postgres: str, level: str
) -> None:
    with psycopg.connect(postgres) as theirs:
        theirs.isolation_level = psycopg.IsolationLevel[level]
        assert one(theirs, "'mail', 'send', id => 'x'") == ("x", True)
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="READ COMMITTED"):
            one(theirs, "'mail', 'send', key => 'ana'")


def test_a_trigger_can_push(backend: PostgresqlBackend, postgres_admin: Admin) -> None:
    with postgres_admin.transaction():
        postgres_admin.execute("CREATE TEMP TABLE orders (number integer) ON COMMIT DROP")
        postgres_admin.execute("INSERT INTO orders SELECT generate_series(1, 5)")
        postgres_admin.execute(
            f"SELECT {SCHEMA}.push('mail', 'send', to_json(number)) FROM orders"  # noqa: S608
        )
        assert claims(backend) == []
    assert sorted(job.payload for job in claims(backend)) == [1, 2, 3, 4, 5]


def test_a_push_as_a_statement_for_any_driver(backend: PostgresqlBackend, postgres: str) -> None:
    message = a_message(
        {"to": "ana"},
        id="x",
        priority=3,
        delay=60,
        expires=600,
        key="ana",
        max_attempts=2,
        version=4,
        backoff="1.0,2.0,3.0,0.5",
        timeout=9.5,
        correlation_id="request-1",
        meta={"user_id": "42"},
    )
    with psycopg.connect(postgres, cursor_factory=psycopg.RawCursor) as connection:
        numeric = backend.push_statement(message, "numeric")
        assert connection.execute(*numeric).fetchone() == ("x", True)
        assert backend.get("x") is None
    stored = the_job(backend, "x")
    assert backend.push([message])[0].status == "existing"
    pushed_by_us = the_job(backend, pushed_as(backend, message, "y"))
    assert as_message(stored) == replace(
        as_message(pushed_by_us), id="x", ready_at=stored.ready_at, key="ana"
    )
    assert (stored.deadline or 0) - stored.created_at == pytest.approx(600)


def pushed_as(backend: PostgresqlBackend, message: Message, job_id: str) -> str:
    """The id of the same message under another one and without its key."""
    [answer] = backend.push([replace(message, id=job_id, key=None)])
    return answer.id


def test_a_statement_in_the_style_of_psycopg(backend: PostgresqlBackend, postgres: str) -> None:
    moment = time.time() + 1_000
    sql, values = backend.push_statement(a_message(id="x", ready_at=moment), "format")
    with psycopg.connect(postgres) as connection:
        connection.execute(sql, values)
    assert the_job(backend, "x").ready_at == pytest.approx(moment)


@pytest.mark.parametrize("option", [{"replace": True}, {"key": "ana", "unique": "replace"}])
def test_a_statement_refuses_what_it_cannot_do(
    backend: PostgresqlBackend, option: dict[str, Any]
) -> None:
    with pytest.raises(InvalidMessage, match=r"push with connection="):
        backend.push_statement(a_message(**option), "numeric")
