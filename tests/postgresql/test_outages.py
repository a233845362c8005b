"""Servers that restart or take no writes: workers say so once, wait, and go on alone."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Literal

import psycopg
import pytest

from ferryman import Ferry, Retry, Settings, State
from ferryman.telemetry.logs import EventLog
from ferryman.testing.waiting import wait_until
from tests.servers.postgres_cluster import Cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman import Event, Worker
    from tests.servers.postgres_cluster import Server


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as cluster:
        cluster.primary.start()
        yield cluster


@pytest.fixture
def server(cluster: Cluster) -> Server:
    return cluster.primary


@pytest.fixture
def ferry(server: Server, caplog: pytest.LogCaptureFixture) -> Iterator[Ferry]:
    caplog.set_level(logging.INFO, "ferryman")
    with Ferry(server.url) as ferry:
        stop = EventLog.follow(ferry.events, ferry.backend.clock)
        yield ferry
        stop()


class Outage:
    """What a worker says of it: every try that failed, of all its loops, and what is logged."""

    def __init__(self, ferry: Ferry, log: pytest.LogCaptureFixture) -> None:
        self.ferry = ferry
        self.failures: list[Event] = []
        self._log = log
        ferry.on("backend.unavailable")(self.failures.append)

    def wait(self) -> None:
        wait_until(lambda: len(self.failures) > 5, what="several tries to fail")

    def check_said_once(self, *reasons: str) -> None:
        """One warning that says why, and one line when it is over."""
        log = self._log
        wait_until(lambda: "store available again" in log.text, what="the recovery to be told")
        said = [record.getMessage() for record in log.records if record.name == "ferryman.backend"]
        assert len(said) == 2, said
        assert "store unavailable, trying again" in said[0]
        assert any(reason in said[0] for reason in reasons), said[0]


@pytest.fixture
def outage(ferry: Ferry, caplog: pytest.LogCaptureFixture) -> Outage:
    return Outage(ferry, caplog)


@pytest.fixture
def worker(ferry: Ferry) -> Iterator[Worker]:
    @ferry.task(retry=Retry(1))
    def add(number: int) -> int:
        return number + 1

    # Beats come every two seconds: replies that were lost are made up for within that time.
    worker = ferry.worker({"default": 2}, Settings(lease=6.0, drain=2.0, reap_every=0.1))
    worker.start()
    yield worker
    worker.join()


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_worker_goes_on_alone_after_the_server_was_restarted(
    server: Server,
    worker: Worker,
    outage: Outage,
    mode: Literal["fast", "immediate"],
) -> None:
    ferry = outage.ferry
    before = [ferry.push("add", number) for number in range(50)]
    server.stop(mode)
    outage.wait()
    server.start()
    after = [ferry.push("add", number) for number in range(50)]
    for handle in (*before, *after):
        job = handle.wait(10)
        assert (job.state, job.attempts, job.errors) == (State.COMPLETED, 1, ())
    assert worker.error is None
    outage.check_said_once("cannot be reached", "is shutting down", "broke off")


def test_a_worker_waits_until_a_server_that_was_set_read_only_takes_writes_again(
    server: Server, worker: Worker, outage: Outage
) -> None:
    ferry = outage.ferry
    assert ferry.push("add", 1).result(10) == 2
    with psycopg.connect(server.url, autocommit=True) as admin:
        admin.execute("SET default_transaction_read_only = off")
        handle = ferry.push("add", 2, delay=0.5)
        admin.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        admin.execute("SELECT pg_reload_conf()")
        try:
            outage.wait()
            assert "read-only" in str(outage.failures[-1]["error"])
            assert handle.status() is State.PENDING
        finally:
            admin.execute("ALTER SYSTEM RESET default_transaction_read_only")
            admin.execute("SELECT pg_reload_conf()")
    assert handle.result(10) == 3
    assert handle.job().attempts == 1
    assert worker.error is None
    outage.check_said_once("name several hosts in the URL")
