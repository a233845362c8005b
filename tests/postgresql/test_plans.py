"""The verbs of every job read what they take and little else, however much lies around it."""

from __future__ import annotations

import math
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from ferryman.backends.postgresql import connect
from ferryman.backends.postgresql.operators import operate
from ferryman.backends.postgresql.statements import statements
from ferryman.clock import SystemClock
from ferryman.job import State
from ferryman.lifecycle import Act
from ferryman.testing.conformance.given import a_message, ack, claims, several
from tests.servers.postgres_fixtures import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.backends.postgresql import PostgresqlBackend
    from ferryman.backends.postgresql.transaction import Transaction

MANY = 3_000


@pytest.fixture
def crowded(
    unknown: PostgresqlBackend, postgres_admin: psycopg.Connection[tuple[object, ...]]
) -> PostgresqlBackend:
    """Many jobs that wait, run, are scheduled and are over."""
    postgres_admin.execute(f"ANALYZE {SCHEMA}.jobs, {SCHEMA}.history")
    return unknown


@pytest.fixture
def unknown(
    backend: PostgresqlBackend, postgres_admin: psycopg.Connection[tuple[object, ...]]
) -> Iterator[PostgresqlBackend]:
    """The same in a store so new that the server knows nothing of it."""
    tables = [f"{SCHEMA}.jobs", f"{SCHEMA}.history"]
    for table in tables:
        postgres_admin.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = false)")
    several(backend, MANY, queue="done")
    backend.settle([ack(job) for job in claims(backend, MANY, queue="done")])
    several(backend, MANY, queue="held")
    claims(backend, MANY, queue="held", worker="w1")
    several(backend, MANY, task="archive")
    several(backend, MANY, delay=600)
    yield backend
    # The tests that follow have the same tables.
    for table in tables:
        postgres_admin.execute(f"ALTER TABLE {table} RESET (autovacuum_enabled)")
        postgres_admin.execute(f"VACUUM {table}")


class Explained:
    """A session that tells how its statements were done, those inside functions too."""

    def __init__(self, backend: PostgresqlBackend, session: psycopg.Connection[Any]) -> None:
        self._sql = statements(backend._database.location)
        self._session = session
        self.plans: list[str] = []
        session.add_notice_handler(lambda notice: self.plans.append(notice.message_primary or ""))

    def run(self, name: str, values: dict[str, Any]) -> str:
        self.plans.clear()
        self._session.execute(self._sql[name], values)
        return "\n".join(self.plans)


@pytest.fixture
def explained(crowded: PostgresqlBackend, postgres: str) -> Iterator[Explained]:
    with session_that_explains(postgres) as session:
        yield Explained(crowded, session)


@contextmanager
def session_that_explains(url: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(url, autocommit=True, prepare_threshold=None) as session:
        session.execute("LOAD 'auto_explain'")
        for setting in ("log_min_duration = 0", "log_nested_statements = on"):
            session.execute(f"SET auto_explain.{setting}")
        session.execute("SET client_min_messages = log")
        yield session


def poll_values(**values: Any) -> dict[str, Any]:
    return {
        "worker": "w2",
        "queues": ["mail", "post"],
        "limits": [10, 10],
        "floors": [-math.inf, 0.0],
        "lease": 60.0,
        "turn": 0,
        "skip_tasks": [],
        "now": None,
        **values,
    }


def test_a_poll_follows_the_index_of_the_claims_order(explained: Explained) -> None:
    plan = explained.run("poll", poll_values())
    assert "Index Scan using ready on jobs" in plan
    assert re.search(r"Index Cond: .*ready_at >= wanted.floor", plan)
    assert "Seq Scan on jobs" not in plan


def test_a_poll_that_skips_a_task_does_not_read_its_jobs(explained: Explained) -> None:
    plan = explained.run("poll", poll_values(skip_tasks=["archive"]))
    assert "using ready_by_task on jobs" in plan
    assert "using ready on jobs" not in plan
    assert "Seq Scan on jobs" not in plan


ACK = {"ids": "a", "fences": "1", "worker": "w1", "results": None, "now": None}
HEARTBEAT = {
    "worker": "w1",
    "ids": ["a"],
    "fences": [1],
    "percents": [None],
    "notes": [None],
    "checkpoints": [None],
    "now": 1.0,
    "expires_at": 2.0,
}


@pytest.mark.parametrize(("name", "values"), [("ack", ACK), ("heartbeat", HEARTBEAT)])
def test_whoever_holds_jobs_looks_each_up_by_its_id(
    explained: Explained, name: str, values: dict[str, Any]
) -> None:
    plan = explained.run(name, values)
    assert re.search(r"Index Scan using jobs_id on jobs .*\n +Index Cond: \(id = ANY", plan)
    assert "Seq Scan on jobs" not in plan


@pytest.mark.parametrize(("name", "values"), [("ack", ACK), ("heartbeat", HEARTBEAT)])
def test_a_table_that_was_found_empty_is_not_read_whole_for_a_few_of_its_jobs(
    backend: PostgresqlBackend,
    postgres: str,
    postgres_admin: psycopg.Connection[tuple[object, ...]],
    name: str,
    values: dict[str, Any],
) -> None:
    """Dead rows that an old transaction keeps in it would be read, too."""
    postgres_admin.execute(f"VACUUM ANALYZE {SCHEMA}.jobs")
    with session_that_explains(postgres) as session:
        plan = Explained(backend, session).run(name, values)
    assert re.search(r"Index Scan using jobs_id on jobs .*\n +Index Cond: \(id = ANY", plan)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("ahead", {"queues": ["mail", "nowhere"], "now": None}),
        ("overdue", {"now": None}),
        ("find", {"id": "a"}),
        ("claims_of", {"worker": "w2", "turn": 1}),
        ("depth", {"queue": "mail", "tenant": None, "most": 10}),
        ("depth", {"queue": "mail", "tenant": "a", "most": 10}),
        ("next_turns", {"queues": ["mail"], "tenants": ["a"], "priorities": [0]}),
    ],
)
def test_a_question_reads_an_index(explained: Explained, name: str, values: dict[str, Any]) -> None:
    plan = explained.run(name, values)
    assert "Seq Scan on jobs" not in plan
    assert "Seq Scan on history" not in plan


def test_a_purge_takes_jobs_in_the_order_of_an_index(explained: Explained) -> None:
    plan = explained.run("waiting_ready", {"queue": "mail", "newest": 1 << 60, "limit": 100})
    assert "Index Scan using ready on jobs" in plan
    assert "Sort" not in plan


def test_an_operator_reads_no_history_that_has_grown_since_the_server_planned(
    new_schema_url: str, postgres_admin: psycopg.Connection[tuple[object, ...]]
) -> None:
    schema = new_schema_url.rpartition("=")[2]
    store = connect(new_schema_url, SystemClock())
    try:
        postgres_admin.execute(f"ALTER TABLE {schema}.history SET (autovacuum_enabled = false)")
        for _ in range(10):
            store.retry(["a", "b"])
        several(store, MANY)
        store.settle([ack(job) for job in claims(store, MANY)])

        def scans(tx: Transaction) -> object:
            return tx.execute(
                f"SELECT pg_stat_get_xact_numscans('{schema}.history'::regclass)"
            ).fetchall()

        def retry(tx: Transaction) -> None:
            before = scans(tx)
            operate(tx, Act.RETRY, ["a", "b"])
            assert scans(tx) == before

        store._database.transact(retry)
    finally:
        store.close()


@pytest.mark.parametrize("name", ["any_finished", "find_all"])
@pytest.mark.parametrize("count", [1, 20, 100, 1_000])
def test_ids_are_looked_up_by_index_in_a_store_without_statistics(
    unknown: PostgresqlBackend, postgres: str, name: str, count: int
) -> None:
    ids = "\n".join(f"id-{number}" for number in range(count))
    with session_that_explains(postgres) as session:
        plan = Explained(unknown, session).run(name, {"ids": ids})
    assert "Index" in plan
    assert "Seq Scan on" not in plan


def test_tasks_to_skip_do_not_hide_what_lies_behind_them(crowded: PostgresqlBackend) -> None:
    crowded.push([a_message("behind", task="send"), a_message("first", task="print", priority=9)])
    jobs = crowded.poll("w2", {"mail": 5}, lease=60, skip_tasks=["archive"])
    assert [job.payload for job in jobs] == ["first", "behind"]


def test_counters_are_added_up_and_say_the_same(
    backend: PostgresqlBackend, postgres_admin: psycopg.Connection[tuple[object, ...]]
) -> None:
    several(backend, 300)
    for job in claims(backend, 300):
        backend.settle([ack(job)])
    rows = f"SELECT FROM {SCHEMA}.counts"
    assert postgres_admin.execute(rows).rowcount == 300
    backend.reap()
    assert postgres_admin.execute(rows).rowcount == 1
    assert backend.snapshot().count(State.COMPLETED) == 300


def test_a_count_is_not_shared_out_among_processes(
    crowded: PostgresqlBackend, postgres: str
) -> None:
    with session_that_explains(postgres) as session:
        for cost in ("parallel_setup_cost", "parallel_tuple_cost"):
            session.execute(f"SET {cost} = 0")
        session.execute("SET min_parallel_index_scan_size = 0")
        for way in ("seqscan", "bitmapscan"):
            session.execute(f"SET enable_{way} = off")
        plan = Explained(crowded, session).run("counts", {"now": None})
    assert re.search(r"-> +Index (Only )?Scan using ready ", plan), plan
    assert not re.search(r"Parallel Index (Only )?Scan using ready ", plan), plan
