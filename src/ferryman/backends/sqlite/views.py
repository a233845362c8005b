"""Views of queues: for programs that read jobs as rows of a table of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ferryman.backends.sql.quoting import literal, quoted, states_of
from ferryman.errors import InvalidView
from ferryman.queue.view import FIELDS

if TYPE_CHECKING:
    import sqlite3

    from ferryman.queue.view import Column, Kind, View

_MARK: Final = "/* made by ferryman */"
_DOCUMENTS: Final = {"payload": "body", "result": "result", "meta": "meta"}
_COMPUTED: Final = {
    "retries": "max(attempts - 1, 0)",
    "max_retries": "max_attempts - 1",
    "progress": "CAST(coalesce(percent, 0) AS INTEGER)",
    "updated_at": "max(created_at, coalesce(started_at, 0), coalesce(heartbeat_at, 0),"
    " coalesce(finished_at, 0))",
}
_NUMBERS: Final = {"integer": "CAST({value} AS INTEGER)", "real": "CAST({value} AS REAL)"}
_ISO: Final = "'%Y-%m-%dT%H:%M:%fZ'"
# SQLite gives only what it has read of a value; asked twice, it gives the JSON of both in a list.
_RAW: Final = (
    "(SELECT substr(two, 2, (length(two) - 3) / 2)"
    " FROM (SELECT json_extract({0}, {1}, {1}) AS two))"
)
_JSON: Final = f"CASE WHEN json_type({{0}}, {{1}}) IS NOT NULL THEN {_RAW} END"
# A text ends for SQLite at its first NUL. A backslash that is escaped itself begins nothing.
_TEXT: Final = f"""
CASE coalesce(json_type({{0}}, {{1}}), 'null')
    WHEN 'null' THEN NULL
    WHEN 'text' THEN CASE
        WHEN instr(replace({_RAW}, '\\\\', ''), '\\u0000') = 0 THEN json_extract({{0}}, {{1}})
    END
    ELSE {_RAW}
END
"""
# What does not fit is null: a number is what JSON takes for one, a time is ISO 8601, and UTC where
# it names no offset.
_FITTED: Final = {
    "integer": """
        SELECT CAST(v AS INTEGER) FROM ({0}) WHERE CAST(CAST(v AS INTEGER) AS TEXT) = v
    """,
    "real": """
        SELECT CAST(v AS REAL) FROM ({0})
        WHERE length(v) <= 400
            AND v NOT GLOB '*[^-+.0-9eE]*'
            AND v NOT GLOB '*[eE]*[0-9][0-9][0-9][0-9]'
            AND json_valid(v)
            AND abs(CAST(v AS REAL)) <= 1.7976931348623157e308
    """,
    "boolean": "SELECT v = 'true' FROM ({0}) WHERE v IN ('true', 'false')",
    "time": """
        SELECT strftime('%Y-%m-%dT%H:%M:%fZ', v) FROM ({0})
        WHERE v GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
            AND (
                length(v) = 10
                OR (
                    length(v) <= 35
                    AND substr(v, 11) GLOB '[T ][012][0-9]:[0-9][0-9]*'
                    AND substr(v, 12, 2) < '24'
                    AND substr(v, 12) NOT GLOB '*[^-+.:0-9Z]*'
                )
            )
            -- It takes any month to have 31 days, and counts on.
            AND date(julianday(substr(v, 1, 10))) = substr(v, 1, 10)
            AND strftime('%Y-%m-%dT%H:%M:%fZ', v) >= '0001-01-02'
            AND strftime('%Y-%m-%dT%H:%M:%fZ', v) < '9999-12-31'
    """,
}


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
    if column.field in _DOCUMENTS:
        return _inside(column)
    value = _COMPUTED.get(column.field, column.field)
    usual = FIELDS[column.field]
    if column.kind == usual:
        return f"strftime({_ISO}, {value}, 'unixepoch')" if usual == "time" else value
    if column.kind == "json":
        return f"json_quote({value})"
    if usual != "text" and column.kind in _NUMBERS:
        return _NUMBERS[column.kind].format(value=value)
    return _fitted(f"CAST({value} AS TEXT)", column.kind)


def _inside(column: Column) -> str:
    document = _DOCUMENTS[column.field]
    if not column.path and column.kind in ("json", "text"):
        return document
    path = literal("$" + "".join(f'."{part}"' for part in column.path))
    if column.kind == "json":
        return _JSON.format(document, path)
    return _fitted(_TEXT.format(document, path), column.kind)


def _fitted(text: str, kind: Kind) -> str:
    """What the text says as that type, null if it says something else."""
    return text if kind == "text" else f"({_FITTED[kind].format(f'SELECT {text} AS v')})"
