"""`push` for producers that speak only SQL."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import psycopg
import pytest

from ferryman.job import State
from ferryman.testing.conformance.given import claim, claims, in_state, pushed, the_job
from tests.servers.postgres_fixtures import SCHEMA

if TYPE_CHECKING:
    from ferryman.backends.postgresql import PostgresqlBackend

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


def test_a_key_that_is_held_answers_with_its_job(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    pushed(backend, id="x", key="ana")
    assert one(postgres_admin, "'mail', 'send', key => 'ana'") == ("x", False)
    assert one(postgres_admin, "'post', 'send', key => 'ana'")[1] is True


def test_a_trigger_can_push(backend: PostgresqlBackend, postgres_admin: Admin) -> None:
    with postgres_admin.transaction():
        postgres_admin.execute("CREATE TEMP TABLE orders (number integer) ON COMMIT DROP")
        postgres_admin.execute("INSERT INTO orders SELECT generate_series(1, 5)")
        postgres_admin.execute(
            f"SELECT {SCHEMA}.push('mail', 'send', to_json(number)) FROM orders"  # noqa: S608
        )
        assert claims(backend) == []
    assert sorted(job.payload for job in claims(backend)) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "statement",
    [
        "'', 'send'",
        "'mail', NULL",
        "'mail', repeat('x', 201)",
        "E'ma\\nil', 'send'",
        "'mail', 'send', priority => 2000000000",
        "'mail', 'send', delay => -1",
        "'mail', 'send', max_attempts => 0",
        "'mail', 'send', meta => '{\"a\": 1}'",
        "'mail', 'send', to_json(repeat('x', 1100000))",
        "'mail', 'send', '{not json'",
    ],
)
def test_what_python_would_refuse_is_refused(
    backend: PostgresqlBackend, postgres_admin: Admin, statement: str
) -> None:
    with pytest.raises((psycopg.IntegrityError, psycopg.DataError)):
        one(postgres_admin, statement)
    assert backend.snapshot().queues == {}
