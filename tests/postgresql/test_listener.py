"""The ear of a worker is cut off: it misses nothing, and hears again."""

from __future__ import annotations

import statistics
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from ferryman import Ferry, Job, Settings
from ferryman.backends.postgresql import PostgresqlBackend, connect
from ferryman.clock import SystemClock
from ferryman.queue.diagnosis import Hearing
from ferryman.testing.waiting import wait_until
from tests.servers.postgres_fixtures import SCHEMA, SESSIONS
from tests.servers.postgres_relay import Relay, relayed

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

    Admin = psycopg.Connection[tuple[object, ...]]

LISTENING = f"SELECT pid {SESSIONS} AND query LIKE 'LISTEN%'"
POLL_EVERY = 1.0


class Idle:
    """A worker with nothing to do but to note when a job starts."""

    def __init__(self, ferry: Ferry) -> None:
        self.starts: dict[str, float] = {}

        @ferry.task(queue="mail")
        def send(job: Job) -> None:
            self.starts[job.id] = time.monotonic()

        self.worker = ferry.worker({"mail": 1}, Settings(drain=1.0, poll_every=POLL_EVERY))

    def delay_of_a_push(self, admin: Admin) -> float:
        """Seconds from the commit of another program's push to the start of its job."""
        [(job_id,)] = admin.execute(
            f"SELECT job_id FROM {SCHEMA}.push('mail', 'send')"  # noqa: S608
        ).fetchall()
        pushed = time.monotonic()
        wait_until(lambda: str(job_id) in self.starts, what="the job to start")
        return self.starts[str(job_id)] - pushed


@pytest.fixture
def idle(postgres_url: str, postgres_admin: Admin) -> Iterator[Idle]:
    with Ferry(postgres_url) as ferry:
        idle = Idle(ferry)
        idle.worker.start()
        listener(postgres_admin)
        yield idle
        idle.worker.join()


def test_a_job_starts_within_the_poll_interval_after_the_listener_was_killed(
    idle: Idle, postgres_admin: Admin
) -> None:
    for _ in range(3):
        first = listener(postgres_admin)
        end(postgres_admin, first)
        assert idle.delay_of_a_push(postgres_admin) < POLL_EVERY
        another_listener(postgres_admin, first)
    assert idle.worker.error is None


def test_a_worker_hears_at_once_again_after_its_listener_was_killed(
    idle: Idle, postgres_admin: Admin
) -> None:
    first = listener(postgres_admin)
    end(postgres_admin, first)
    another_listener(postgres_admin, first)
    delays = [idle.delay_of_a_push(postgres_admin) for _ in range(9)]
    assert statistics.median(delays) < 0.05


def test_those_who_wait_look_for_themselves_as_soon_as_nobody_listens(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    assert backend.wait(["mail"], 0.01) is False
    ear = backend._watch._listener
    wait_until(lambda: ear.hears, what="the listener")
    heard: list[bool] = []

    class Sleeper:
        def ring(self) -> None:
            heard.append(ear.hears)

        def sleep(self, seconds: float) -> bool:
            return False

    with backend._database.bell.heard_by(Sleeper()):
        postgres_admin.execute(f"SELECT pg_terminate_backend(pid) {SESSIONS}")
        # The ring of its beginning may come first, and that it listens again.
        wait_until(lambda: False in heard, what="those who wait to be woken")


def test_a_listener_comes_back_after_every_cut_of_the_line(
    postgres_url: str, postgres: str, postgres_admin: Admin
) -> None:
    with (
        Relay(postgres) as relay,
        closing(connect(relayed(postgres_url, relay), SystemClock())) as store,
    ):
        store.wait(["mail"], 0.01)
        for _ in range(2):
            first = listener(postgres_admin)
            relay.cut()
            wait_until(lambda: not store._watch._listener.hears, what="the loss to be noticed")
            relay.mend()
            another_listener(postgres_admin, first)


def test_a_store_says_whether_it_is_told_of_pushes(postgres_url: str, postgres: str) -> None:
    with (
        Relay(postgres) as relay,
        closing(connect(relayed(postgres_url, relay), SystemClock())) as store,
    ):
        assert store.hears() is None
        wait_until(lambda: store.wait(["mail"], 0.01) or store.hears(), what="a listener")
        relay.cut()
        wait_until(lambda: store.hears() is False, what="the loss to be noticed")
        relay.mend()
        wait_until(store.hears, what="a listener again")
    with Ferry(postgres_url) as ferry:
        store_of_a_worker = ferry.backend
        assert isinstance(store_of_a_worker, Hearing)
        wait_until(lambda: ferry.backend.wait(["mail"], 0.01) or store_of_a_worker.hears())
    quiet = f"{postgres_url}{'&' if '?' in postgres_url else '?'}listen=no"
    with closing(connect(quiet, SystemClock())) as store:
        store.wait(["mail"], 0.01)
        assert store.hears() is None


def test_a_store_is_closed_at_once_though_its_listener_waits_for_a_server_that_hangs(
    postgres_url: str, postgres: str, postgres_admin: Admin
) -> None:
    with Relay(postgres) as relay:
        store = connect(relayed(postgres_url, relay), SystemClock())
        store.wait(["mail"], 0.01)
        listener(postgres_admin)
        relay.stall()
        relay.drop()
        wait_until(lambda: not store._watch._listener.hears, what="the loss to be noticed")
        wait_until(lambda: relay.connected, what="the listener to connect again")
        before = time.monotonic()
        store.close()
        assert time.monotonic() - before < 5


def listener(admin: Admin) -> object:
    """The process number of the session that listens."""
    rows = wait_until(lambda: admin.execute(LISTENING).fetchall(), what="a listener")
    return rows[0][0]


def another_listener(admin: Admin, first: object) -> None:
    wait_until(lambda: listener(admin) != first, what="another listener")


def end(admin: Admin, process: object) -> None:
    admin.execute("SELECT pg_terminate_backend(%s, 5000)", [process])
