"""A standby takes over under load: what was acknowledged is there, and is done once."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest

from ferryman import State
from ferryman.backends.postgresql import connect
from ferryman.clock import SystemClock
from ferryman.errors import BackendUnavailable
from ferryman.testing.conformance.given import claims, pushed, the_job
from ferryman.testing.waiting import wait_until
from tests.postgresql.crew import crew
from tests.servers.kinds import HOST
from tests.servers.postgres_cluster import Cluster

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.postgresql.crew import Member
    from tests.servers.postgres_cluster import Server

ENOUGH = 150
"""Acknowledged pushes before, and again after, the server dies."""


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(synchronous_standby_names="*") as cluster:
        cluster.primary.start()
        yield cluster


@pytest.fixture
def standby(cluster: Cluster) -> Server:
    """Every commit of the primary waits for it."""
    standby = cluster.standby(synchronous_standby_names="")
    standby.start()
    with psycopg.connect(cluster.primary.url, autocommit=True) as admin:
        following = "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'"
        wait_until(lambda: admin.execute(following).rowcount == 1, what="the standby to follow")
    return standby


@pytest.fixture
def url(cluster: Cluster, standby: Server) -> str:
    """Both servers, of which the one is meant that takes writes."""
    hosts = f"{HOST}:{cluster.primary.port},{HOST}:{standby.port}"
    return f"postgresql://postgres@{hosts}/postgres?target_session_attrs=read-write"


def test_a_standby_that_is_promoted_under_load_has_every_acknowledged_job(
    cluster: Cluster, standby: Server, url: str, tmp_path: Path
) -> None:
    with crew(url, tmp_path) as (producers, worker):
        wait_until(lambda: acknowledged(producers) > ENOUGH, timeout=20, what="a load")
        wait_until(lambda: len(worker.said) > ENOUGH // 2, timeout=20, what="work")
        cluster.primary.stop("immediate")
        before = acknowledged(producers)
        standby.promote()
        wait_until(lambda: acknowledged(producers) > before + ENOUGH, timeout=20, what="more")
        for producer in producers:
            producer.stop()
        with closing(connect(url, SystemClock())) as store:
            unfinished = (State.PENDING, State.PROCESSING)
            wait_until(
                lambda: not any(store.snapshot().count(state) for state in unfinished),
                timeout=20,
                what="all jobs to be done",
            )
            ids = [job_id for producer in producers for job_id in producer.said]
            jobs = [the_job(store, job_id) for job_id in ids]
        worker.stop()
    assert {(job.state, job.attempts, job.errors) for job in jobs} == {(State.COMPLETED, 1, ())}
    assert len(set(worker.said)) == len(worker.said), "a job ran twice"
    assert set(ids) <= set(worker.said)


def test_a_standby_that_was_not_promoted_yet_is_unavailable_not_empty(
    cluster: Cluster, standby: Server, url: str
) -> None:
    with closing(connect(url, SystemClock())) as store:
        job_id = pushed(store)
        cluster.primary.stop("fast")
        with pytest.raises(BackendUnavailable):
            claims(store)
        with pytest.raises(BackendUnavailable, match="read-only"):
            claims(store)
        standby.promote()
        assert [job.id for job in claims(store)] == [job_id]


def test_a_standby_that_is_named_alone_is_unavailable_until_it_is_promoted(
    cluster: Cluster, standby: Server
) -> None:
    with closing(connect(cluster.primary.url, SystemClock())) as store:
        job_id = pushed(store)
        wait_until(lambda: replayed(cluster, standby), what="the standby to know the job")
    with closing(connect(standby.url, SystemClock())) as store:
        assert the_job(store, job_id).state is State.PENDING
        with pytest.raises(BackendUnavailable, match="read-only"):
            claims(store)
        with pytest.raises(BackendUnavailable, match="read-only"):
            pushed(store)
        standby.promote()
        assert [job.id for job in claims(store)] == [job_id]


def replayed(cluster: Cluster, standby: Server) -> bool:
    with psycopg.connect(cluster.primary.url) as primary, psycopg.connect(standby.url) as other:
        [(written,)] = primary.execute("SELECT pg_current_wal_lsn()").fetchall()
        [(there,)] = other.execute(
            "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", [written]
        ).fetchall()
    return bool(there)


def acknowledged(producers: Sequence[Member]) -> int:
    return sum(len(producer.said) for producer in producers)
