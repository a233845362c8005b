"""Sessions that the server ends by its own timeouts, in the midst of a transaction."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest

from ferryman.backends.postgresql import connect
from ferryman.clock import SystemClock
from ferryman.errors import BackendUnavailable
from ferryman.job import State
from ferryman.testing.conformance.given import (
    a_message,
    ack,
    claimed,
    nack,
    pushed,
    settle,
    state_of,
)
from ferryman.testing.waiting import wait_until
from tests.servers.postgres_fixtures import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman.backends.postgresql import PostgresqlBackend
    from ferryman.job import Job
    from ferryman.queue.settlement import Settlement

    Admin = psycopg.Connection[tuple[object, ...]]


def with_setting(url: str, setting: str) -> str:
    joint = "&" if "?" in url else "?"
    return f"{url}{joint}options=-c{setting}%3D500ms"


@pytest.mark.parametrize("end", [ack, nack])
def test_an_end_that_meets_the_transaction_timeout_is_an_outage(
    backend: PostgresqlBackend,
    postgres_url: str,
    postgres_admin: Admin,
    end: Callable[[Job], Settlement],
) -> None:
    job = claimed(backend)
    url = with_setting(postgres_url, "transaction_timeout")
    with closing(connect(url, SystemClock())) as hurried, postgres_admin.transaction():
        postgres_admin.execute(f"SELECT FROM {SCHEMA}.jobs FOR UPDATE")
        # Whether nothing was written or nobody knows: both mean to try again.
        with pytest.raises(BackendUnavailable, match="transaction timeout"):
            settle(hurried, end(job))
    assert settle(backend, end(job)).applied


@pytest.mark.parametrize("setting", ["transaction_timeout", "idle_in_transaction_session_timeout"])
def test_a_push_inside_a_transaction_that_the_server_has_ended_is_an_outage(
    backend: PostgresqlBackend, postgres: str, postgres_admin: Admin, setting: str
) -> None:
    alive = "SELECT FROM pg_stat_activity WHERE pid = %s"
    with psycopg.connect(with_setting(postgres, setting)) as theirs:
        pid = theirs.execute("SELECT pg_backend_pid()").fetchone()
        wait_until(lambda: not postgres_admin.execute(alive, pid).rowcount, what="the timeout")
        for _ in range(2):
            with pytest.raises(BackendUnavailable, match="nothing was written"):
                backend.push([a_message(id="x")], connection=theirs)
    assert backend.get("x") is None
    assert state_of(backend, pushed(backend)) is State.PENDING
