"""Views of queues: other programs read jobs as rows of a table, and insert rows that are jobs."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from ferryman.backends.sql.quoting import literal, quoted, states_of
from ferryman.errors import InvalidView
from ferryman.queue.view import FIELDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.postgresql.transaction import Transaction
    from ferryman.queue.view import Column, View

_MARK: Final = "made by ferryman"
_COMPUTED: Final = {
    "payload": "body::json",
    "result": "result::json",
    "meta": "meta::json",
    "retries": "greatest(attempts - 1, 0)",
    "max_retries": "max_attempts - 1",
    "progress": "coalesce(percent, 0)::integer",
    "updated_at": "greatest(created_at, started_at, heartbeat_at, finished_at)",
}
_TYPES: Final = {
    "text": "text",
    "integer": "bigint",
    "real": "double precision",
    "boolean": "boolean",
    "json": "json",
}
# What does not fit is null: one job must not make a whole table unreadable.
_FITS: Final = {
    "integer": "^-?[0-9]{1,18}$",
    "real": "^-?[0-9]{1,300}([.][0-9]+)?([eE][-+]?[0-9]{1,2})?$",
    "boolean": "^(true|false)$",
}
_GIVEN: Final = {
    "id": "id => coalesce({new}::text, gen_random_uuid()::text)",
    "priority": "priority => coalesce({new}, 0)",
    "max_attempts": "max_attempts => coalesce({new}, 5)",
    "max_retries": "max_attempts => coalesce({new} + 1, 5)",
    "key": "key => {new}",
    "correlation_id": "correlation_id => {new}",
}
"""What a row that is inserted says of its job, besides payload and meta."""


def create_view(tx: Transaction, schema: str, view: View) -> None:
    """Make the view in the schema where the connection makes tables, unless it is there just so."""
    statements = [*_statements(schema, view)]
    mark = f"{_MARK} {hashlib.sha256(';'.join(statements).encode()).hexdigest()}"
    found = tx.execute(
        "SELECT obj_description(pg_class.oid, 'pg_class') FROM pg_class "
        "WHERE relname = %s AND relnamespace = current_schema()::regnamespace",
        (view.name,),
    ).fetchone()
    if found is not None:
        if found[0] == mark:
            return
        if _MARK not in str(found[0]):
            raise InvalidView(
                f"{view.name!r} is something else in this database: choose another name"
            )
        tx.execute(f"DROP VIEW {quoted(view.name)}")
    for statement in [*statements, f"COMMENT ON VIEW {quoted(view.name)} IS {literal(mark)}"]:
        tx.execute(statement)


def _statements(schema: str, view: View) -> Sequence[str]:
    name = quoted(view.name)
    function = f"{schema}.into_{hashlib.sha256(view.name.encode()).hexdigest()[:16]}()"
    return (
        f"CREATE VIEW {name} AS {_rows(schema, view)}",
        f"CREATE OR REPLACE FUNCTION {function} RETURNS trigger LANGUAGE plpgsql AS "
        + literal(_insertion(schema, view)),
        f"CREATE TRIGGER push INSTEAD OF INSERT ON {name} FOR EACH ROW EXECUTE FUNCTION {function}",
    )


def _rows(schema: str, view: View, job_id: str | None = None) -> str:
    """The jobs of the queue as the view shows them, or only one of them."""
    columns = ", ".join(f"{_value(each)} AS {quoted(each.name)}" for each in view.columns)
    # Nothing can be bound in a view: names were checked, and texts are quoted here.
    where = f"queue = {literal(view.queue)}" if job_id is None else f"id = {job_id}"
    return " UNION ALL ".join(
        f"SELECT {columns} FROM {schema}.{table} WHERE {where}"  # noqa: S608
        for table in ("jobs", "history")
    )


def _insertion(schema: str, view: View) -> str:
    """A function's body: the row becomes a job, and is answered as the view shows it."""
    options = [
        _GIVEN[each.field].format(new=_new(each)) for each in view.columns if each.field in _GIVEN
    ]
    arguments = ", ".join(
        [
            f"queue => {literal(view.queue)}",
            f"task => {literal(view.task)}",
            f"body => ({_document(view, 'payload')})::json",
            f"meta => nullif({_document(view, 'meta')}, '{{}}'::jsonb)",
            *options,
        ]
    )
    checks = "".join(
        f"IF {_new(each)} <> {literal(each.pending)} THEN RAISE check_violation USING "
        f"MESSAGE = {literal(f'{each.name}: a new job is {each.pending}')}; END IF; "
        for each in view.columns
        if each.field == "state"
    )
    return (
        f"DECLARE pushed record; BEGIN {checks}"  # noqa: S608
        f"SELECT * INTO pushed FROM {schema}.push({arguments}); "
        f"SELECT * INTO NEW FROM ({_rows(schema, view, 'pushed.job_id')}) AS one; RETURN NEW; END"
    )


def _document(view: View, field: str) -> str:
    """The JSON that an inserted row's columns make up; columns that are null are left out."""
    whole = [
        f"{_new(each)}::jsonb" for each in view.columns if each.field == field and not each.path
    ]
    parts = {each.path: _new(each) for each in view.columns if each.field == field and each.path}
    built = f"jsonb_strip_nulls({_nested(parts)})" if parts else None
    if not whole:
        return built or ("'{}'::jsonb" if field == "meta" else "'null'::jsonb")
    given = f"coalesce({whole[0]}, '{{}}'::jsonb)" if built else whole[0]
    return f"{given} || {built}" if built else f"coalesce({given}, 'null'::jsonb)"


def _nested(parts: dict[tuple[str, ...], str]) -> str:
    groups: dict[str, dict[tuple[str, ...], str]] = {}
    for (first, *rest), value in parts.items():
        groups.setdefault(first, {})[tuple(rest)] = value
    items = [
        f"{literal(name)}, {f'to_jsonb({inner[()]})' if () in inner else _nested(inner)}"
        for name, inner in groups.items()
    ]
    return f"jsonb_build_object({', '.join(items)})"


def _value(column: Column) -> str:
    if column.states:
        return states_of(column)
    value = _COMPUTED.get(column.field, column.field)
    if column.path:
        return _inside(f"({value})", column)
    if column.kind == "time":
        return f"to_timestamp({value})"
    return value if column.kind == FIELDS[column.field] else f"({value})::{_TYPES[column.kind]}"


def _inside(document: str, column: Column) -> str:
    path = f"ARRAY[{', '.join(map(literal, column.path))}]"
    if column.kind == "json":
        return f"{document} #> {path}"
    value = f"({document} #>> {path})"
    if column.kind == "time":
        return f"{value}::timestamptz"
    fits = _FITS.get(column.kind)
    return (
        f"CASE WHEN {value} ~ '{fits}' THEN {value}::{_TYPES[column.kind]} END" if fits else value
    )


def _new(column: Column) -> str:
    return f"NEW.{quoted(column.name)}"
