"""One write transaction as the verbs see it: its moment, its statements, and whom it awakens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg

from ferryman.backends.sql.rows import can_exist as encodes
from ferryman.backends.sql.rows import storable as encodable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from ferryman.backends.postgresql.patient import Row


class Transaction:
    """Runs statements by name at one moment, `now`; each sees what was committed before it.

    `given_now` is that moment where a test's clock tells it; None lets a statement take the
    server's own, later one. `awakens` gathers the queues in which a waiting worker may find
    something new. `fixed` is a caller's transaction in which, against that rule, all statements see
    the same moment.
    """

    __slots__ = ("_connection", "_prepare", "_sql", "awakens", "fixed", "given_now", "now")

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        sql: Mapping[str, str],
        now: float,
        given_now: float | None,
        *,
        ours: bool = True,
    ) -> None:
        self._connection = connection
        self._sql = sql
        self.now = now
        self.given_now = given_now
        # On a connection of the caller's own nothing of ours should stay.
        self._prepare = None if ours else False
        self.awakens: set[str] = set()
        self.fixed = False

    def run(self, name: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> psycopg.Cursor[Row]:
        return self._cursor().execute(self._sql[name], values, prepare=self._prepare)

    def rows(self, name: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Sequence[Row]:
        return self.run(name, values).fetchall()

    def row(self, name: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Row | None:
        return self.run(name, values).fetchone()

    def rows_planned(self, name: str, values: Mapping[str, Any]) -> Sequence[Row]:
        """The same, planned anew: a plan made while history was small would read all of it."""
        return self._cursor().execute(self._sql[name], values, prepare=False).fetchall()

    def execute(self, statement: str, values: Sequence[Any] = ()) -> psycopg.Cursor[Row]:
        """A statement that is in no file, because names make it up."""
        return self._cursor().execute(statement, values or None)

    def ask_many(self, name: str, rows: Iterable[Sequence[Any]]) -> Sequence[Any]:
        """The single value that each answers, in one round trip.

        Not by executemany, which prepares a statement on a caller's connection.
        """
        with self.pipelined():
            cursors = [self.run(name, row) for row in rows]
        return [value for cursor in cursors for (value,) in cursor.fetchall()]

    def copy(self, name: str, rows: Iterable[Sequence[Any]]) -> None:
        """Stream rows into a table."""
        with self._cursor().copy(self._sql[name]) as copy:
            for row in rows:
                copy.write_row(row)

    def pipelined(self) -> AbstractContextManager[object]:
        """Statements inside are sent without waiting for the answers of those before."""
        return self._connection.pipeline()

    def savepoint(self) -> None:
        self._cursor().execute("SAVEPOINT ferryman_batch")

    def back_to_savepoint(self) -> None:
        self._cursor().execute("ROLLBACK TO ferryman_batch")

    def commit(self, *, announced: bool) -> None:
        """Commit, and perhaps tell those who wait."""
        if not announced:
            self._connection.execute("COMMIT")
            return
        with self._connection.pipeline():
            self.announce()
            self._connection.execute("COMMIT")

    def announce(self) -> None:
        """Make waiting workers look, as soon as this is committed."""
        if self.awakens:
            self.run("announce")

    def _cursor(self) -> psycopg.Cursor[Row]:
        # A caller's connection may make cursors and rows of its own kind; ours are plain.
        return psycopg.Cursor(self._connection, row_factory=psycopg.rows.tuple_row)


def storable(text: str | None) -> str | None:
    """Text from outside as PostgreSQL can hold it: neither lone surrogates nor NUL."""
    text = encodable(text)
    return text.replace("\0", "\\x00") if text is not None and "\0" in text else text


def can_exist(text: str) -> bool:
    """Whether any name in the store can be this; PostgreSQL would refuse the question."""
    return "\0" not in text and encodes(text)
