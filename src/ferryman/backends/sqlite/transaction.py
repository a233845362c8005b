"""One write transaction as the verbs see it: its moment, its statements, and what they count."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any, Final

from ferryman.backends.sql.claim import Claim
from ferryman.backends.sql.statements import load
from ferryman.backends.sqlite.counts import Tally
from ferryman.backends.sqlite.known import Known

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

SQL: Final = load("ferryman.backends.sqlite", claim=Claim._fields, known=Known._fields)


class Transaction:
    """Runs statements by name at one moment, `now`; `tally` collects the changes of the counters.

    All share one cursor, so fetch what one statement answers before running the next. Close it
    before another thread may use the connection: a cursor that is freed later resets its statement,
    which that thread has got from the connection's cache and may be running.
    """

    __slots__ = ("_cursor", "now", "tally")

    def __init__(self, connection: sqlite3.Connection, now: float) -> None:
        # A caller's connection may have a row factory of its own; ours are plain tuples.
        self._cursor = sqlite3.Cursor(connection)
        self._cursor.row_factory = None
        self.now = now
        self.tally = Tally()

    def close(self) -> None:
        self._cursor.close()

    def run(self, name: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> sqlite3.Cursor:
        return self._cursor.execute(SQL[name], values)

    def run_text(self, statement: str, values: Mapping[str, Any]) -> sqlite3.Cursor:
        """`run` by the text of a statement."""
        return self._cursor.execute(statement, values)

    def run_many(self, name: str, rows: Iterable[Sequence[Any]]) -> int:
        """How many rows were changed, all together."""
        return self._cursor.executemany(SQL[name], rows).rowcount

    def savepoint(self) -> None:
        self._cursor.execute("SAVEPOINT batch")

    def back_to_savepoint(self) -> None:
        self._cursor.execute("ROLLBACK TO batch")

    def store_counts(self) -> None:
        """Write the tally: one row for each queue and state that changed, however many jobs did."""
        if rows := self.tally.rows():
            self.run_many("count", rows)
