"""A handler that completes its job in its own database transaction: both, or neither."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from ferryman import Ferry, Job, LeaseLost, Retry, Settings, State, Unsupported
from ferryman.lifecycle import Verdict
from ferryman.queue.settlement import Settlement
from ferryman.testing.waiting import wait_until
from ferryman.worker.claim import Stopped
from tests.worker.process_app import tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    Transactions = Callable[[], AbstractContextManager[Any]]


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/jobs.db"
    return str(request.getfixturevalue("new_schema_url"))


@pytest.fixture
def transaction(url: str, tmp_path: Path, request: pytest.FixtureRequest) -> Transactions:
    """Opens a transaction on the database of the jobs, where there is a table `paid`."""

    @contextmanager
    def on_sqlite() -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(tmp_path / "jobs.db", timeout=10)
        try:
            with connection:
                connection.execute("CREATE TABLE IF NOT EXISTS paid (number integer)")
                yield connection
        finally:
            connection.close()

    @contextmanager
    def on_postgresql() -> Iterator[psycopg.Connection[Any]]:
        with psycopg.connect(request.getfixturevalue("postgres")) as connection:
            connection.execute("SET LOCAL client_min_messages = warning")
            connection.execute(f"CREATE TABLE IF NOT EXISTS {table} (number integer)")
            connection.execute(f"SET LOCAL search_path = {table.partition('.')[0]}")
            yield connection

    table = f"{url.rpartition('schema=')[2]}.paid"
    return on_sqlite if url.startswith("sqlite") else on_postgresql


@pytest.fixture
def ferry(url: str, transaction: Transactions) -> Iterator[Ferry]:
    with Ferry(url, lease=1.0) as ferry:
        ferry.backend.snapshot()
        yield ferry


INSERT = "INSERT INTO paid VALUES (7)"


def paid(transaction: Transactions) -> list[int]:
    with transaction() as connection:
        return [number for (number,) in connection.execute("SELECT number FROM paid").fetchall()]


def test_the_work_and_its_end_are_one_commit(
    ferry: Ferry, work: Callable[..., object], transaction: Transactions
) -> None:
    @ferry.task()
    def pay(job: Job) -> None:
        with transaction() as connection:
            connection.execute(INSERT)
            job.ack({"paid": 7}, connection=connection)

    handle = pay.push()
    work()
    assert handle.wait(20).state is State.COMPLETED
    assert handle.job().result == '{"paid":7}'
    assert paid(transaction) == [7]


def test_an_error_after_the_commit_changes_nothing_any_more(
    ferry: Ferry, work: Callable[..., object], transaction: Transactions
) -> None:
    @ferry.task(retry=Retry(3, base=0))
    def pay(job: Job) -> None:
        with transaction() as connection:
            connection.execute(INSERT)
            job.ack(connection=connection)
        raise RuntimeError("after all was done")

    lost: list[str] = []
    ferry.on("job.lost")(lambda event: lost.append(event["job"].id))
    handle = pay.push()
    work()
    wait_until(lambda: lost == [handle.id], what="the error to be refused")
    assert (handle.job().state, handle.job().attempts) == (State.COMPLETED, 1)
    assert paid(transaction) == [7]


def test_a_rollback_takes_both_back_and_the_job_is_tried_again(
    ferry: Ferry, work: Callable[..., object], transaction: Transactions
) -> None:
    @ferry.task(retry=Retry(3, base=0))
    def pay(job: Job) -> None:
        with transaction() as connection:
            connection.execute(INSERT)
            job.ack(connection=connection)
            if job.attempts == 1:
                raise RuntimeError("before the commit")

    handle = pay.push()
    work()
    assert handle.wait(20).state is State.COMPLETED
    assert handle.job().attempts == 2
    assert paid(transaction) == [7]


def test_a_cancel_that_was_asked_takes_the_work_back(
    ferry: Ferry, transaction: Transactions
) -> None:
    queue = ferry.queue("default")
    queue.push(task="pay")
    [job] = queue.poll()
    ferry.backend.cancel([job.id])

    def pay() -> None:
        with transaction() as connection:
            connection.execute(INSERT)
            job.ack(connection=connection)

    with pytest.raises(Stopped, match="cancel"):
        pay()
    assert paid(transaction) == []


def test_a_lost_lease_is_told_before_the_commit(ferry: Ferry, transaction: Transactions) -> None:
    queue = ferry.queue("default")
    queue.push(task="pay")
    [job] = queue.poll()
    ferry.backend.settle([Settlement.of(job, Verdict.GIVE_BACK)])
    with transaction() as connection, pytest.raises(LeaseLost):
        job.ack(connection=connection)
    assert ferry.backend.snapshot().count(State.PENDING) == 1


def test_a_store_without_a_database_refuses() -> None:
    with Ferry("memory://") as ferry:
        queue = ferry.queue("mail")
        queue.push()
        [job] = queue.poll()
        with pytest.raises(Unsupported, match=r"memory: job\.ack\(connection=…\) needs a database"):
            job.ack(connection=object())


def test_a_child_process_says_why_it_cannot(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db"
    with Ferry(url) as ferry:
        ferry.include(tasks)
        handle = ferry.push("acks_itself")
        worker = ferry.worker({handle.job().queue: 1}, Settings(drain=5.0))
        worker.start()
        try:
            ended = handle.wait(30)
        finally:
            worker.join()
    assert ended.state is State.FAILED
    assert "executor='thread'" in (ended.error or "")
