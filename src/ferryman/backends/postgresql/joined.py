"""A push inside the caller's own transaction: it is there if and only if they commit."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.pq import PipelineStatus, TransactionStatus

from ferryman.backends.postgresql.errors import translate
from ferryman.backends.postgresql.transaction import Transaction
from ferryman.errors import InvalidMessage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.backends.postgresql.connection import Database


@contextlib.contextmanager
def joined(connection: object, database: Database) -> Iterator[Transaction]:
    """The caller's transaction inside a savepoint: a push that fails leaves nothing behind."""
    theirs = _driver(connection)
    _check_open(theirs)
    try:
        if theirs.info.transaction_status == TransactionStatus.IDLE:
            # As any first statement of theirs would: else the block below would be a whole
            # transaction, and commit.
            theirs.execute("SELECT 1")
        with theirs.transaction():
            yield _transaction(theirs, database)
    except psycopg.Error as error:
        raise translate(error, database.location.name) from error


def _check_open(theirs: psycopg.Connection[Any]) -> None:
    status = theirs.info.transaction_status
    if theirs.autocommit and status == TransactionStatus.IDLE:
        raise InvalidMessage(
            "connection", "has no transaction open and commits each statement: begin one first"
        )
    if status == TransactionStatus.INERROR:
        raise InvalidMessage("connection", "is in a transaction that has failed: roll it back")
    if theirs.info.encoding != "utf-8":
        raise InvalidMessage(
            "connection", f"has the encoding {theirs.info.encoding}: set client_encoding to utf8"
        )
    if theirs.info.pipeline_status != PipelineStatus.OFF:
        raise InvalidMessage("connection", "is in pipeline mode, in which not all can be done")


def _transaction(theirs: psycopg.Connection[Any], database: Database) -> Transaction:
    tx = Transaction(theirs, database.sql, 0.0, database.given_now, ours=False)
    try:
        row = tx.row("same_store")
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
        row = None
    if row is None or row[1] != database.store:
        raise InvalidMessage(
            "connection",
            f"is open on the database {theirs.info.dbname!r} of {theirs.info.host!r}, the jobs are "
            f"in {database.location.name}",
        )
    moment, _, isolation = row
    tx.now = moment if tx.given_now is None else tx.given_now
    tx.fixed = isolation != "read committed"
    return tx


def _driver(connection: object) -> psycopg.Connection[Any]:
    """The psycopg connection below whatever the caller works with."""
    if isinstance(connection, psycopg.Connection):
        return connection
    theirs: Any = connection
    if callable(getattr(theirs, "connection", None)):
        theirs = theirs.connection()  # a Session of SQLAlchemy
    if hasattr(theirs, "exec_driver_sql"):
        # SQLAlchemy must know that a transaction is open, or its commit would do nothing.
        theirs.exec_driver_sql("SELECT 1")
        theirs = theirs.connection.driver_connection
    if isinstance(theirs, psycopg.Connection):
        return theirs
    raise InvalidMessage(
        "connection",
        "must be a psycopg.Connection, or a SQLAlchemy Connection or Session that uses "
        f"postgresql+psycopg, not {type(theirs).__name__}",
    )
