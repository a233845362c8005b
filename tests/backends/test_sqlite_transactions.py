"""Pushing inside the caller's own transaction, and what a batch does when part of it is known."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from ferryman.backends.sqlite import SqliteBackend, connect
from ferryman.clock import SystemClock
from ferryman.errors import BackendUnavailable, InvalidMessage
from ferryman.job import State
from ferryman.message import Message

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


@pytest.fixture
def backend(path: Path) -> Iterator[SqliteBackend]:
    backend = connect(f"sqlite:///{path}?busy_timeout=0.1", SystemClock())
    yield backend
    backend.close()


@pytest.fixture
def theirs(backend: SqliteBackend, path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE orders (number INTEGER)")
        yield connection


def test_a_job_appears_with_the_callers_commit(
    backend: SqliteBackend, theirs: sqlite3.Connection
) -> None:
    theirs.execute("INSERT INTO orders VALUES (1)")
    assert backend.push([a_message("job")], connection=theirs)[0].created
    assert backend.get("job") is None
    assert backend.snapshot().count(State.PENDING) == 0
    theirs.commit()
    assert backend.get("job") is not None
    assert backend.snapshot().count(State.PENDING) == 1


def test_a_job_vanishes_with_the_callers_rollback(
    backend: SqliteBackend, theirs: sqlite3.Connection
) -> None:
    theirs.execute("INSERT INTO orders VALUES (1)")
    backend.push([a_message("job")], connection=theirs)
    theirs.rollback()
    assert backend.get("job") is None
    assert backend.snapshot().count(State.PENDING) == 0
    assert theirs.execute("SELECT count(*) FROM orders").fetchone() == (0,)


def test_a_push_that_comes_first_opens_the_transaction_as_any_insert_would(
    backend: SqliteBackend, theirs: sqlite3.Connection
) -> None:
    backend.push([a_message("job", key="k")], connection=theirs)
    assert theirs.in_transaction
    theirs.execute("INSERT INTO orders VALUES (1)")
    theirs.rollback()
    assert backend.get("job") is None


def test_the_callers_row_factory_changes_nothing(
    backend: SqliteBackend, theirs: sqlite3.Connection
) -> None:
    theirs.row_factory = sqlite3.Row
    backend.push([a_message("one"), a_message("one"), a_message("two", key="k")], connection=theirs)
    theirs.commit()
    assert {job.id for job in backend.poll("w", {"mail": 9}, lease=60)} == {"one", "two"}


def test_a_connection_that_commits_by_itself_must_begin_first(
    backend: SqliteBackend, path: Path
) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as theirs:
        with pytest.raises(InvalidMessage, match="BEGIN first"):
            backend.push([a_message("job")], connection=theirs)
        theirs.execute("BEGIN")
        assert backend.push([a_message("job")], connection=theirs)[0].created
        theirs.execute("COMMIT")
    assert backend.get("job") is not None


def test_a_connection_to_another_database_is_refused(
    backend: SqliteBackend, tmp_path: Path
) -> None:
    for other in (tmp_path / "other.db", ":memory:"):
        with (
            closing(sqlite3.connect(other)) as theirs,
            pytest.raises(InvalidMessage, match="the jobs are in"),
        ):
            backend.push([a_message("job")], connection=theirs)


def test_something_else_than_a_connection_is_refused(backend: SqliteBackend) -> None:
    with pytest.raises(InvalidMessage, match=r"must be an sqlite3\.Connection, not str"):
        backend.push([a_message("job")], connection="jobs.db")


def test_a_connection_that_reads_bytes_is_refused(
    backend: SqliteBackend, theirs: sqlite3.Connection
) -> None:
    theirs.text_factory = bytes
    with pytest.raises(InvalidMessage, match="text_factory"):
        backend.push([a_message("job")], connection=theirs)


def test_a_link_to_the_same_file_is_the_same_database(
    backend: SqliteBackend, path: Path, tmp_path: Path
) -> None:
    (tmp_path / "link.db").symlink_to(path)
    with closing(sqlite3.connect(tmp_path / "link.db")) as theirs:
        backend.push([a_message("job")], connection=theirs)
        theirs.commit()
    assert backend.get("job") is not None


def test_a_transaction_whose_snapshot_is_old_must_be_repeated(
    backend: SqliteBackend, theirs: sqlite3.Connection
) -> None:
    theirs.execute("BEGIN")
    theirs.execute("SELECT count(*) FROM orders").fetchone()
    backend.push([a_message("other")])
    with pytest.raises(BackendUnavailable, match="locked"):
        backend.push([a_message("job")], connection=theirs)
    theirs.rollback()
    assert backend.push([a_message("job")], connection=theirs)[0].created
    theirs.commit()


def test_a_batch_that_is_partly_known_creates_the_rest(backend: SqliteBackend) -> None:
    backend.push([a_message(f"job {n}") for n in range(0, 10, 2)])
    answers = backend.push(
        [
            *(a_message(f"job {n}") for n in range(10)),
            a_message("job 9"),
            a_message("job 8", payload="another body"),
        ]
    )
    assert [answer.status for answer in answers] == [
        *["existing", "created"] * 5,
        "existing",
        "conflict",
    ]
    assert backend.snapshot().count(State.PENDING) == 10


def test_keyed_and_plain_messages_see_each_other_in_the_order_of_the_batch(
    backend: SqliteBackend,
) -> None:
    answers = backend.push(
        [
            a_message("one"),
            a_message("one", key="k"),
            a_message("two", key="k"),
            a_message("two"),
            a_message("three", key="k"),
            a_message("four"),
        ]
    )
    assert [(answer.id, answer.status) for answer in answers] == [
        ("one", "created"),
        ("one", "existing"),
        ("two", "created"),
        ("two", "existing"),
        ("two", "existing"),
        ("four", "created"),
    ]


def a_message(job_id: str, *, key: str | None = None, payload: str | None = None) -> Message:
    return Message.of("mail", "send", payload, id=job_id, key=key)
