"""A push inside the caller's own transaction: it is there if and only if they commit."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from typing import TYPE_CHECKING

from ferryman.backends.sqlite.errors import translate
from ferryman.errors import InvalidMessage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextlib.contextmanager
def joined(connection: object, path: Path) -> Iterator[sqlite3.Connection]:
    """The caller's connection inside a savepoint: a push that fails leaves nothing behind."""
    theirs = _checked(connection, path)
    try:
        _begin_as_python_would(theirs)
        theirs.execute("SAVEPOINT ferryman_push")
        try:
            yield theirs
        except BaseException:
            # Some errors end the whole transaction, and the savepoint with it.
            if theirs.in_transaction:
                theirs.execute("ROLLBACK TO ferryman_push")
            raise
        theirs.execute("RELEASE ferryman_push")
    except sqlite3.Error as error:
        raise translate(error, path) from error


def _checked(connection: object, path: Path) -> sqlite3.Connection:
    if not isinstance(connection, sqlite3.Connection):
        raise InvalidMessage(
            "connection", f"must be an sqlite3.Connection, not {type(connection).__name__}"
        )
    if connection.text_factory is not str:
        raise InvalidMessage("connection", "has a text_factory of its own: set it to str")
    files = [file for _, name, file in _plain(connection) if name == "main"]
    if not files[0] or not os.path.samefile(files[0], path):  # noqa: PTH121
        raise InvalidMessage(
            "connection", f"is open on {files[0] or 'memory'!r}, the jobs are in {str(path)!r}"
        )
    if not connection.in_transaction and not _begins_by_itself(connection):
        raise InvalidMessage(
            "connection", "has no transaction open and commits each statement: BEGIN first"
        )
    return connection


def _plain(connection: sqlite3.Connection) -> list[tuple[int, str, str]]:
    cursor = sqlite3.Cursor(connection)
    cursor.row_factory = None
    return cursor.execute("PRAGMA database_list").fetchall()


def _begins_by_itself(connection: sqlite3.Connection) -> bool:
    return connection.isolation_level is not None and not getattr(connection, "autocommit", 0) > 0


def _begin_as_python_would(connection: sqlite3.Connection) -> None:
    # Python begins before the first INSERT; a push may read first, and must not read unlocked.
    if not connection.in_transaction:
        connection.execute("BEGIN IMMEDIATE")
