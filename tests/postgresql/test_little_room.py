"""A server with little room, for the notices of a program that does not take them and for locks."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from ferryman.backends.postgresql import connect, pooler
from ferryman.clock import SystemClock
from ferryman.errors import BackendRejected
from ferryman.queue.diagnosis import Severity
from ferryman.queue.view import View
from ferryman.testing.conformance.given import (
    a_message,
    ack,
    claim,
    claimed,
    nack,
    pushed,
    settle,
    several,
)
from ferryman.testing.waiting import wait_until
from tests.servers.postgres_cluster import Cluster
from tests.servers.postgres_fixtures import SCHEMA, sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ferryman.backends.postgresql import PostgresqlBackend

    Admin = psycopg.Connection[tuple[object, ...]]

FILL = "SELECT pg_notify('elsewhere', repeat('x', 7000) || n) FROM generate_series(1, 100) AS n"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The URL of a server with the least room that it can have."""
    with Cluster(
        max_notify_queue_pages="64", max_locks_per_transaction="10", max_connections="20"
    ) as cluster:
        cluster.primary.start()
        yield cluster.primary.url


@pytest.fixture
def admin(server: str) -> Iterator[Admin]:
    with psycopg.connect(server, autocommit=True) as connection:
        yield connection


@pytest.fixture
def backend(server: str, admin: Admin) -> Iterator[PostgresqlBackend]:
    url = f"{server}?schema={SCHEMA}&application_name={SCHEMA}"
    with closing(connect(url, SystemClock())) as store:
        yield store
    sweep(admin)


@pytest.fixture
def sleeper(server: str, admin: Admin) -> Iterator[Admin]:
    """A listener that sleeps in its transaction while the server's queue of notices runs full."""
    empty = "SELECT WHERE pg_notification_queue_usage() = 0"
    # The sleeper of another test may not have gone yet, and would take what it holds with it.
    wait_until(lambda: admin.execute(empty).rowcount == 1, what="the queue to be empty")
    with psycopg.connect(server, autocommit=True) as sleeper:
        sleeper.execute("LISTEN elsewhere")
        sleeper.execute("BEGIN")
        with pytest.raises(psycopg.errors.ProgramLimitExceeded):
            admin.execute(FILL)
        with pytest.raises(psycopg.errors.ProgramLimitExceeded):
            admin.execute("NOTIFY elsewhere")
        yield sleeper


def by_sql(backend: PostgresqlBackend, admin: Admin) -> object:
    return lambda: admin.execute(f"SELECT {SCHEMA}.push('mail', 'send')")


def by_a_view(backend: PostgresqlBackend, admin: Admin) -> object:
    backend.create_view(View.of("mine", "mail", {"id": "id"}, "send"))
    return lambda: admin.execute("INSERT INTO mine VALUES ('x')")


def by_a_caller(backend: PostgresqlBackend, admin: Admin) -> object:
    def push() -> None:
        with admin.transaction():
            backend.push([a_message()], connection=admin)

    return push


def by_a_nack(backend: PostgresqlBackend, admin: Admin) -> object:
    job = claimed(backend)
    return lambda: settle(backend, nack(job, delay=0))


def by_a_parent(backend: PostgresqlBackend, admin: Admin) -> object:
    job = claimed(backend, queue="parents")
    return lambda: settle(backend, ack(job, children=[a_message()]))


COMING: list[Any] = [
    lambda backend, _: lambda: pushed(backend),
    lambda backend, _: lambda: pushed(backend, key="ana", tenant="ana"),
    lambda backend, _: lambda: several(backend, 3),
    lambda backend, _: lambda: several(backend, 40),
    by_sql,
    by_a_view,
    by_a_caller,
    by_a_nack,
    by_a_parent,
]


@pytest.mark.parametrize("coming", COMING)
def test_a_full_queue_of_notices_keeps_no_job_from_coming(
    backend: PostgresqlBackend,
    admin: Admin,
    request: pytest.FixtureRequest,
    coming: Callable[..., Callable[[], None]],
) -> None:
    come = coming(backend, admin)
    request.getfixturevalue("sleeper")
    come()
    assert claim(backend).queue == "mail"


def test_jobs_are_announced_again_when_the_sleeper_has_gone(
    server: str, backend: PostgresqlBackend, admin: Admin, sleeper: Admin
) -> None:
    pushed(backend)
    sleeper.close()
    with psycopg.connect(server, autocommit=True) as ear:
        ear.execute(f"LISTEN ferryman_{SCHEMA}")
        pushed(backend, queue="post")
        admin.execute(f"SELECT {SCHEMA}.push('pages', 'send')")
        heard = [notice.payload for notice in ear.notifies(timeout=10, stop_after=2)]
    assert heard == ["post", "pages"]


def test_a_doctor_finds_the_full_queue_of_notices(
    backend: PostgresqlBackend, sleeper: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pooler, "HEARD_WITHIN", 0.1)
    [found] = [one for one in backend.diagnose() if one.check == "listener"]
    assert found.severity is Severity.WARNING
    assert "pg_notification_queue_usage()" in found.fix


def test_more_keys_than_the_server_has_locks_are_refused_with_what_helps(
    backend: PostgresqlBackend,
) -> None:
    batch = [a_message(key=f"k{number}") for number in range(10_000)]
    with pytest.raises(BackendRejected, match=r"push fewer.*raise max_locks_per_transaction"):
        backend.push(batch)
    assert backend.snapshot().queues == {}
    assert all(answer.created for answer in backend.push(batch[:100]))
