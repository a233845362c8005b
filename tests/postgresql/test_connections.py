"""Connections that are cut, killed or silent: nothing hangs, and everything works again."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest

from ferryman.backends.postgresql import PostgresqlBackend, connect
from ferryman.backends.postgresql.clock import ServerClock
from ferryman.clock import SystemClock
from ferryman.errors import BackendRejected, BackendUnavailable, OutcomeUnknown
from ferryman.job import State
from ferryman.testing.conformance.given import a_message, ack, claim, claims, pushed, settle
from ferryman.testing.waiting import wait_until
from tests.servers.postgres_fixtures import SCHEMA, SESSIONS, end_sessions
from tests.servers.postgres_relay import Relay, relayed

if TYPE_CHECKING:
    from collections.abc import Iterator

    Admin = psycopg.Connection[tuple[object, ...]]

LISTENING = f"SELECT pid {SESSIONS} AND query LIKE 'LISTEN%'"


@pytest.fixture
def relay(postgres: str) -> Iterator[Relay]:
    with Relay(postgres) as relay:
        yield relay


@pytest.fixture
def impatient(postgres_url: str, relay: Relay) -> Iterator[PostgresqlBackend]:
    """A store by a line that can be stalled, which waits for no answer longer than 0.3 s."""
    url = f"{relayed(postgres_url, relay)}&timeout=0.3&connect_timeout=2"
    with closing(connect(url, SystemClock())) as store:
        yield store


def test_connections_that_the_server_ended_while_idle_are_not_noticed(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    pushed(backend)
    end_sessions(postgres_admin)
    pushed(backend)
    assert len(claims(backend)) == 2


def test_a_server_that_does_not_answer_is_unavailable_after_the_timeout(
    impatient: PostgresqlBackend, relay: Relay
) -> None:
    pushed(impatient)
    relay.stall()
    before = time.monotonic()
    with pytest.raises(BackendUnavailable, match="no answer within"):
        impatient.snapshot()
    assert time.monotonic() - before < 2


def test_after_one_connection_has_gone_silent_the_others_are_not_waited_for(
    impatient: PostgresqlBackend, relay: Relay
) -> None:
    with ThreadPoolExecutor(4) as pool:
        together = threading.Barrier(4)

        def hold() -> None:
            with impatient._database.lent():
                together.wait(5)

        for held in [pool.submit(hold) for _ in range(4)]:
            held.result(5)
    relay.forsake()
    with pytest.raises(BackendUnavailable, match="no answer within"):
        impatient.snapshot()
    before = time.monotonic()
    impatient.snapshot()
    assert time.monotonic() - before < 0.3


def test_a_statement_that_was_given_up_does_not_go_on_at_the_server(
    impatient: PostgresqlBackend, postgres_admin: Admin
) -> None:
    with pytest.raises(BackendUnavailable, match="no answer within"):
        impatient._database.read_text("SELECT pg_sleep(20)")
    query = f"SELECT pid {SESSIONS} AND state = 'active'"
    wait_until(lambda: postgres_admin.execute(query).rowcount == 0, 2, what="it to end")


def test_a_read_that_collides_is_done_again(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    postgres_admin.execute(
        "CREATE SEQUENCE tries; CREATE FUNCTION collide() RETURNS bigint LANGUAGE plpgsql AS "
        "$$ DECLARE try bigint := nextval('tries'); BEGIN "
        "IF try < 3 THEN RAISE serialization_failure; END IF; RETURN try; END $$"
    )
    try:
        assert backend._database.read_text("SELECT collide()") == [(3,)]
    finally:
        postgres_admin.execute("DROP FUNCTION collide(); DROP SEQUENCE tries")


def test_a_push_without_an_answer_has_an_unknown_outcome_and_can_be_repeated(
    impatient: PostgresqlBackend, relay: Relay
) -> None:
    message = a_message("body", id="x")
    relay.stall()
    with pytest.raises(OutcomeUnknown, match="repeat it with the same ids"):
        impatient.push([message])
    relay.flow()
    assert impatient.push([message])[0].status in ("created", "existing")
    assert impatient.snapshot().count(State.PENDING) == 1


def test_a_settlement_whose_answer_was_lost_can_be_sent_again(
    impatient: PostgresqlBackend, relay: Relay
) -> None:
    pushed(impatient)
    job = claim(impatient)
    relay.stall()
    with pytest.raises(OutcomeUnknown):
        settle(impatient, ack(job))
    relay.flow()
    wait_until(lambda: settle(impatient, ack(job)).applied, what="the settlement")
    assert impatient.snapshot().count(State.COMPLETED) == 1


def test_a_listener_that_was_killed_listens_again(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiter = pool.submit(backend.wait, ["mail"], 20)
        first = listener(postgres_admin)
        postgres_admin.execute("SELECT pg_terminate_backend(%s)", [first])
        wait_until(lambda: listener(postgres_admin) != first, what="another listener")
        announce_from_elsewhere(postgres_admin)
        assert waiter.result(2)


def test_a_job_is_found_by_polling_while_nobody_listens(
    postgres_url: str, postgres_admin: Admin
) -> None:
    with closing(connect(f"{postgres_url}&listen=no", SystemClock())) as deaf:
        with ThreadPoolExecutor(1) as pool:
            waiter = pool.submit(deaf.wait, ["mail"], 20)
            announce_from_elsewhere(postgres_admin)
            assert waiter.result(2)
        assert postgres_admin.execute(LISTENING).rowcount == 0


def test_a_wait_outlives_a_cut_of_the_line(
    postgres_url: str, relay: Relay, postgres_admin: Admin
) -> None:
    with closing(connect(relayed(postgres_url, relay), SystemClock())) as store:
        assert store.wait(["mail"], 0.01) is False
        relay.cut()
        with pytest.raises(BackendUnavailable):
            store.wait(["mail"], 5)
        relay.mend()
        with ThreadPoolExecutor(1) as pool:
            waiter = pool.submit(store.wait, ["mail"], 20)
            announce_from_elsewhere(postgres_admin)
            assert waiter.result(5)


def test_a_closed_store_refuses_and_leaves_no_session(
    postgres_url: str, postgres_admin: Admin
) -> None:
    store = connect(postgres_url, SystemClock())
    store.wait(["mail"], 0.01)
    store.close()
    with pytest.raises(BackendRejected, match="was closed"):
        store.snapshot()
    query = f"SELECT pid {SESSIONS}"
    wait_until(lambda: postgres_admin.execute(query).rowcount == 0, what="the sessions to end")


def test_closing_ends_a_wait(backend: PostgresqlBackend, postgres_admin: Admin) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiter = pool.submit(backend.wait, ["mail"], 20)
        listener(postgres_admin)
        backend.close()
        assert waiter.result(2) is False


def test_more_threads_than_connections_take_turns(postgres_url: str) -> None:
    with (
        closing(connect(f"{postgres_url}&connections=2", SystemClock())) as store,
        ThreadPoolExecutor(8) as pool,
    ):
        answers = list(pool.map(lambda n: pushed(store, n), range(64)))
        assert len(set(answers)) == 64


def test_a_forked_child_works_on_connections_of_its_own(backend: PostgresqlBackend) -> None:
    pushed(backend, "from the parent")
    backend.wait(["nowhere"], 0.01)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            pushed(backend, "from the child")
            backend.wait(["nowhere"], 0.01)
            status = 0
        finally:
            os._exit(status)
    for number in range(50):
        pushed(backend, number)
    assert os.waitpid(child, 0)[1] == 0
    assert backend.snapshot().count(State.PENDING) == 52


def test_a_child_can_tell_the_time_though_a_thread_of_its_parent_was_at_the_clock(
    backend: PostgresqlBackend,
) -> None:
    clock = backend.clock
    assert isinstance(clock, ServerClock)
    with clock._lock:
        child = os.fork()
        if child == 0:
            # A child that waits for a lock for ever is ended by this.
            signal.alarm(5)
            clock.now()
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def test_a_read_only_server_is_unavailable_not_empty(
    postgres: str, backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    pushed(backend)
    database = psycopg.conninfo.conninfo_to_dict(postgres)["dbname"]
    postgres_admin.execute(f"ALTER DATABASE {database} SET default_transaction_read_only = on")
    try:
        end_sessions(postgres_admin)
        with pytest.raises(BackendUnavailable, match="read-only"):
            claims(backend)
    finally:
        postgres_admin.execute(f"ALTER DATABASE {database} RESET default_transaction_read_only")
    assert len(claims(backend)) == 1


def listener(admin: Admin) -> object:
    """The process number of the session that listens."""
    rows = wait_until(lambda: admin.execute(LISTENING).fetchall(), what="a listener")
    return rows[0][0]


def announce_from_elsewhere(admin: Admin) -> None:
    admin.execute(f"SELECT {SCHEMA}.push('mail', 'send')")
