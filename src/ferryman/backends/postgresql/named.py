"""Jobs by queue, task and state alone: found by the indexes, however rare they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ferryman.backends.postgresql.narrow import places
from ferryman.backends.postgresql.transaction import can_exist
from ferryman.backends.sql.named import MOST_LINES
from ferryman.backends.sql.rows import STATES
from ferryman.backends.sql.where import Dialect, where

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferryman.backends.postgresql.connection import Database
    from ferryman.filter import Filter
    from ferryman.job import State

# Of the newest unfinished jobs so many are looked at before whole lines of them.
_CLOSE: Final = 2_000
_TOO_MANY: Final = 1 << 62
_DIALECT: Final = Dialect(mark="?", has="", payload="")


def newest(database: Database, query: Filter, before: int, limit: int) -> Sequence[int] | None:
    """Where the newest matches stand in push order; None where there are too many lines to ask."""
    statement, values = _filled(database.sql["named"], query)
    values |= {table: table in places(query) for table in ("jobs", "history")}
    asked = {**values, "before": before, "limit": limit, "close": _CLOSE}
    seqs = [seq for (seq,) in database.read_text(statement, asked)]
    return None if _TOO_MANY in seqs else seqs


def counts(database: Database, query: Filter, most: int) -> Mapping[State, int] | None:
    """Matches by state, each counted up to `most`; None where there are too many lines to ask."""
    statement, values = _filled(database.sql["count_named"], query)
    counted: dict[State, int] = {}
    for state, n in database.read_text(statement, {**values, "most": most}):
        if state is None:
            return None
        counted[STATES[state]] = min(most, counted.get(STATES[state], 0) + n)
    return counted


def _filled(statement: str, query: Filter) -> tuple[str, dict[str, Any]]:
    """The statement with the filter's condition, which stands in it several times."""
    text, names = where(query, 0.0, _DIALECT)
    values: dict[str, Any] = {"lines": MOST_LINES}
    for number, value in enumerate(names):
        text = text.replace("?", f"%(name{number})s", 1)
        # What no text of the database can hold matches nothing, like a name that nobody has.
        values[f"name{number}"] = value if can_exist(str(value)) else ""
    return statement.replace("{where}", text), values
