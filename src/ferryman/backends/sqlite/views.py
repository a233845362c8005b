"""Views of queues: for programs that read jobs as rows of a table of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ferryman.backends.sql.quoting import literal, quoted, states_of
from ferryman.errors import InvalidView
from ferryman.queue.view import DOCUMENTS

if TYPE_CHECKING:
    import sqlite3

    from ferryman.queue.view import Column, View

_MARK: Final = "/* made by ferryman */"
_COMPUTED: Final = {
    "payload": "body",
    "retries": "max(attempts - 1, 0)",
    "max_retries": "max_attempts - 1",
    "progress": "CAST(coalesce(percent, 0) AS INTEGER)",
    "updated_at": "max(created_at, coalesce(started_at, 0), coalesce(heartbeat_at, 0),"
    " coalesce(finished_at, 0))",
}
_TYPES: Final = {"text": "TEXT", "integer": "INTEGER", "real": "REAL", "boolean": "INTEGER"}


def create_view(connection: sqlite3.Connection, view: View) -> None:
    """Make the view in the open transaction, unless it is there just so."""
    statement = _statement(view)
    found = connection.execute(
        "SELECT sql FROM sqlite_master WHERE lower(name) = lower(?)", (view.name,)
    ).fetchone()
    if found is not None:
        (known,) = found
        if known == statement:
            return
        if _MARK not in (known or ""):
            raise InvalidView(
                f"{view.name!r} is something else in this database: choose another name"
            )
        connection.execute(f"DROP VIEW {quoted(view.name)}")
    connection.execute(statement)


def _statement(view: View) -> str:
    columns = ", ".join(f"{_value(each)} AS {quoted(each.name)}" for each in view.columns)
    # Nothing can be bound in a view: names were checked, and texts are quoted here.
    rows = f"SELECT {columns} FROM jobs WHERE queue = {literal(view.queue)}"  # noqa: S608
    return f"CREATE VIEW {quoted(view.name)} AS {_MARK} {rows}"


def _value(column: Column) -> str:
    if column.states:
        return states_of(column)
    value = _COMPUTED.get(column.field, column.field)
    if column.path:
        path = "$" + "".join(f'."{part}"' for part in column.path)
        value = f"json_extract({value}, {literal(path)})"
        return f"json_quote({value})" if column.kind == "json" else _cast(value, column)
    if column.kind == "time":
        return f"strftime('%Y-%m-%dT%H:%M:%fZ', {value}, 'unixepoch')"
    return value if column.field in DOCUMENTS else _cast(value, column)


def _cast(value: str, column: Column) -> str:
    kind = _TYPES.get(column.kind)
    return value if kind is None else f"CAST({value} AS {kind})"
