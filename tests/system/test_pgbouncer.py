"""PostgreSQL behind PgBouncer in transaction mode: every promise holds, waking is by polling."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest

from ferryman.backends.postgresql import connect
from ferryman.clock import SystemClock
from ferryman.testing.conformance.given import ack, claims, settle, several
from tests.conformance import test_postgresql
from tests.servers.postgres_bouncer import bouncer
from tests.servers.postgres_fixtures import SCHEMA, SESSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    Admin = psycopg.Connection[tuple[object, ...]]

LISTENING = f"SELECT pid {SESSIONS} AND query LIKE 'LISTEN%'"


@pytest.fixture(scope="session")
def pgbouncer(postgres: str) -> Iterator[str]:
    """The URL of this process's database by way of PgBouncer."""
    with bouncer(postgres) as url:
        yield url


@pytest.fixture
def bounced_url(postgres_url: str, postgres: str, pgbouncer: str) -> str:
    """An empty store, by way of PgBouncer."""
    return postgres_url.replace(postgres, pgbouncer)


class TestThroughPgbouncer(test_postgresql.TestPostgresql):
    @pytest.fixture
    def url(self, bounced_url: str) -> str:
        return bounced_url

    @pytest.fixture
    def database(self, pgbouncer: str) -> str:
        return pgbouncer


def test_transactions_of_one_connection_are_answered_by_several_processes(pgbouncer: str) -> None:
    with (
        psycopg.connect(pgbouncer, autocommit=True) as one,
        psycopg.connect(pgbouncer) as other,
    ):
        [(first,)] = one.execute("SELECT pg_backend_pid()").fetchall()
        [(taken,)] = other.execute("SELECT pg_backend_pid()").fetchall()
        [(second,)] = one.execute("SELECT pg_backend_pid()").fetchall()
        assert first == taken
        assert second != first


def test_nothing_is_prepared_and_nobody_listens(bounced_url: str, postgres_admin: Admin) -> None:
    with closing(connect(bounced_url, SystemClock())) as store:
        for _ in range(10):
            several(store, 30)
            for job in claims(store):
                assert settle(store, ack(job)).applied
        assert store.wait(["mail"], 0.05) is False
        assert not store._watch._listener.hears
        assert postgres_admin.execute(LISTENING).rowcount == 0
        with store._database.lent() as connection:
            prepared = "SELECT FROM pg_prepared_statements"
            assert connection.execute(prepared).rowcount == 0


def test_a_worker_that_cannot_listen_finds_jobs_by_polling(
    bounced_url: str, postgres_admin: Admin
) -> None:
    with closing(connect(bounced_url, SystemClock())) as store, ThreadPoolExecutor(1) as pool:
        waiter = pool.submit(store.wait, ["mail"], 20)
        postgres_admin.execute(f"SELECT {SCHEMA}.push('mail', 'send')")
        before = time.monotonic()
        assert waiter.result(5)
        assert time.monotonic() - before < 1


def test_doctor_says_what_lies_between_and_what_to_do(
    bounced_url: str, postgres_admin: Admin
) -> None:
    with closing(connect(bounced_url, SystemClock())) as store:
        # Asked twice: what it tries leaves nothing behind in sessions that others will use.
        store.diagnose()
        [finding] = [found for found in store.diagnose() if found.check == "listener"]
    assert "through a pooler" in finding.what
    assert "directly" in finding.fix
    assert postgres_admin.execute(LISTENING).rowcount == 0


def test_sessions_that_die_behind_the_pooler_cost_nothing(
    bounced_url: str, postgres_admin: Admin
) -> None:
    with closing(connect(bounced_url, SystemClock())) as store:
        ids = several(store, 5)
        postgres_admin.execute(f"SELECT pg_terminate_backend(pid, 5000) {SESSIONS}")
        assert sorted(job.id for job in claims(store)) == sorted(ids)
