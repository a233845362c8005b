"""Views of queues: other programs read jobs as rows of a table, and insert rows that are jobs."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

import psycopg

from ferryman.backends.sql.quoting import literal, quoted, states_of
from ferryman.errors import InvalidView
from ferryman.queue.view import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferryman.backends.postgresql.transaction import Transaction
    from ferryman.queue.view import Column, Kind, View

_MARK: Final = "made by ferryman"
_DOCUMENTS: Final = {"payload": "body", "result": "result", "meta": "meta"}
_COMPUTED: Final = {
    "retries": "greatest(attempts - 1, 0)",
    "max_retries": "max_attempts - 1",
    "progress": "coalesce(percent, 0)::integer",
    "updated_at": "greatest(created_at, started_at, heartbeat_at, finished_at)",
}
_EMPTY: Final = "'{}'::jsonb"
_NUMBERS: Final = {"integer": "floor({value})::bigint", "real": "({value})::double precision"}
_GIVEN: Final = {
    "id": "id => coalesce({new}::text, gen_random_uuid()::text)",
    "priority": "priority => coalesce(({new})::integer, 0)",
    "max_attempts": "max_attempts => coalesce(({new})::integer, 5)",
    "max_retries": "max_attempts => coalesce(({new})::integer + 1, 5)",
    "key": "key => ({new})::text",
    "correlation_id": "correlation_id => ({new})::text",
}
"""What a row that is inserted says of its job, besides payload and meta."""


def create_view(tx: Transaction, schema: str, view: View) -> None:
    """Make the view in the schema where the connection makes tables, unless it is there just so."""
    place, _, comment = _found(tx, view)
    statements = _statements(schema, place, view)
    mark = f"{_MARK} in {schema} {hashlib.sha256(';'.join(statements).encode()).hexdigest()}"
    if comment == mark:
        return
    # Texts with a backslash mean what they say, whatever the user's setting is.
    tx.execute("SET LOCAL standard_conforming_strings = on")
    tx.run("lock_view", {"name": view.name})
    # Another process may have been faster.
    _, taken, comment = _found(tx, view)
    if comment == mark:
        return
    if taken and not str(comment).startswith(f"{_MARK} in {schema} "):
        whose = "of another store" if str(comment).startswith(_MARK) else "something else"
        raise InvalidView(f"{view.name!r} is {whose} in this database: choose another name")
    _replace(tx, view, f"{place}.{quoted(view.name)}", statements)
    tx.execute(f"COMMENT ON VIEW {place}.{quoted(view.name)} IS {literal(mark)}")


def _found(tx: Transaction, view: View) -> tuple[str, bool, str | None]:
    """Where it has to be, whether the name is taken there, and the comment on what has it."""
    [(place, taken, comment)] = tx.rows("find_view", {"name": view.name})
    if place is None:
        raise InvalidView(
            f"there is no schema to make {view.name!r} in: let search_path name one that exists"
        )
    return place, taken, comment


def _replace(tx: Transaction, view: View, name: str, statements: Sequence[str]) -> None:
    first, *rest = statements
    tx.savepoint()
    try:
        # Unlike a new view, one that is replaced keeps its grants.
        tx.execute(first)
    except psycopg.errors.InvalidTableDefinition:
        tx.back_to_savepoint()
        _drop(tx, view, name)
        tx.execute(first)
    for statement in rest:
        tx.execute(statement)


def _drop(tx: Transaction, view: View, name: str) -> None:
    try:
        tx.execute(f"DROP VIEW {name}")
    except psycopg.errors.DependentObjectsStillExist as error:
        raise InvalidView(
            f"the columns of {view.name!r} cannot be changed so while something is made of it "
            f"({error.diag.message_detail}): drop that, start again and make it anew, or choose "
            "another name for the view"
        ) from error


def _statements(schema: str, place: str, view: View) -> Sequence[str]:
    name = f"{place}.{quoted(view.name)}"
    # By its place, too: views of one name may be in several schemas.
    function = f"{schema}.into_{hashlib.sha256(name.encode()).hexdigest()[:16]}()"
    return (
        f"CREATE OR REPLACE VIEW {name} AS {_rows(schema, view)}",
        f"CREATE OR REPLACE FUNCTION {function} RETURNS trigger LANGUAGE plpgsql "
        "SET standard_conforming_strings = on AS " + literal(_insertion(schema, view)),
        f"CREATE OR REPLACE TRIGGER push INSTEAD OF INSERT ON {name} FOR EACH ROW "
        f"EXECUTE FUNCTION {function}",
    )


def _rows(schema: str, view: View, job_id: str | None = None) -> str:
    """The jobs of the queue as the view shows them, or only one of them."""
    columns = ", ".join(f"{_value(schema, each)} AS {quoted(each.name)}" for each in view.columns)
    # Nothing can be bound in a view: names were checked, and texts are quoted here.
    where = f"queue = {literal(view.queue)}" if job_id is None else f"id = {job_id}"
    return " UNION ALL ".join(
        f"SELECT {columns} FROM {schema}.{table} WHERE {where}"  # noqa: S608
        for table in ("jobs", "history")
    )


def _insertion(schema: str, view: View) -> str:
    """A function's body: the row becomes a job, and is answered as the view shows it."""
    options = [
        _GIVEN[each.field].format(new=_said(each)) for each in view.columns if each.field in _GIVEN
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
    # In brackets, or PL/pgSQL would take the THEN of a CASE for that of its own IF.
    refusals = "".join(
        f"IF ({wrong}) THEN RAISE check_violation USING MESSAGE = {literal(why)}; END IF; "
        for wrong, why in _refusals(view)
    )
    return (
        f"DECLARE pushed record; BEGIN {refusals}"  # noqa: S608
        f"SELECT * INTO pushed FROM {schema}.push({arguments}); "
        f"SELECT * INTO NEW FROM ({_rows(schema, view, 'pushed.job_id')}) AS one; RETURN NEW; END"
    )


def _refusals(view: View) -> Iterator[tuple[str, str]]:
    """What no row may say that becomes a job, and the words for it."""
    for each in view.columns:
        if each.field == "state":
            odd = f"({_said(each)})::text <> {literal(each.pending)}"
            yield odd, f"{each.name}: a new job is {each.pending}"
        elif each.kind == "real" and each.field in _DOCUMENTS:
            odd = f"{_new(each)} IN ('NaN', 'Infinity', '-Infinity')"
            yield odd, f"{each.name}: JSON has no such number"
    for field in _DOCUMENTS:
        whole, built = _parts(view, field)
        if whole and built:
            yield (
                f"jsonb_typeof({whole}) <> 'object' AND {built} <> {_EMPTY}",
                f"{field}: only an object takes what other columns say of it",
            )


def _document(view: View, field: str) -> str:
    """The JSON that an inserted row's columns make up; columns that are null are left out."""
    whole, built = _parts(view, field)
    if whole is None:
        return built or (_EMPTY if field == "meta" else "'null'::jsonb")
    return _merged(whole, built) if built else f"coalesce({whole}, 'null'::jsonb)"


def _parts(view: View, field: str) -> tuple[str | None, str | None]:
    """A document's whole, and the object of its parts, as far as there are columns for them."""
    columns = [each for each in view.columns if each.field == field]
    whole = [_whole(each) for each in columns if not each.path]
    parts = {each.path: each for each in columns if each.path}
    return whole[0] if whole else None, _nested(parts) if parts else None


def _merged(whole: str, built: str) -> str:
    """Parts are put into an object; beside anything else `_refusals` lets none pass."""
    return (
        f"(SELECT CASE WHEN part = {_EMPTY} THEN whole ELSE whole || part END "  # noqa: S608
        f"FROM (SELECT coalesce({whole}, {_EMPTY}) AS whole, {built} AS part) AS document)"
    )


def _whole(column: Column) -> str:
    return f"{_new(column)}::jsonb" if _is_json(column) else f"to_jsonb({_new(column)})"


def _part(column: Column) -> str:
    value = f"to_jsonb({_new(column)})"
    # Whatever its column is, meta holds texts.
    return f"to_jsonb({value} #>> '{{}}')" if column.field == "meta" else value


def _nested(parts: Mapping[tuple[str, ...], Column]) -> str:
    """An object of those columns that are not null; what a column holds may well be."""
    groups: dict[str, dict[tuple[str, ...], Column]] = {}
    for (first, *rest), column in parts.items():
        groups.setdefault(first, {})[tuple(rest)] = column
    return " || ".join(_entry(name, inner) for name, inner in groups.items())


def _entry(name: str, inner: Mapping[tuple[str, ...], Column]) -> str:
    if () in inner:
        column = inner[()]
        value = f"jsonb_build_object({literal(name)}, {_part(column)})"
        return f"CASE WHEN {_new(column)} IS NULL THEN {_EMPTY} ELSE {value} END"
    return (
        f"(SELECT CASE WHEN part = {_EMPTY} THEN part "  # noqa: S608
        f"ELSE jsonb_build_object({literal(name)}, part) END "
        f"FROM (SELECT {_nested(inner)} AS part) AS parts)"
    )


def _value(schema: str, column: Column) -> str:
    if column.states:
        return states_of(column)
    if column.field in _DOCUMENTS:
        return _inside(schema, column)
    value = _COMPUTED.get(column.field, column.field)
    usual = FIELDS[column.field]
    if column.kind == usual:
        return f"to_timestamp({value})" if usual == "time" else value
    if column.kind == "json":
        return f"to_json({value})"
    if usual != "text" and column.kind in _NUMBERS:
        return _NUMBERS[column.kind].format(value=value)
    return _fitted(schema, f"({value})::text", column.kind)


def _inside(schema: str, column: Column) -> str:
    document = _DOCUMENTS[column.field]
    if _is_json(column):
        return f"({document}::json)::{column.kind}"
    path = f"ARRAY[{', '.join(map(literal, column.path))}]::text[]"
    found = f"{schema}.json_at({document}, {path})"
    if column.kind == "json":
        return found
    # Nearly every document is read by the server alone, in half the time.
    text = (
        f"CASE WHEN strpos({document}, '\\u') = 0 THEN {document}::json #>> {path} "
        f"ELSE {schema}.text_of({found}) END"
    )
    return _fitted(schema, text, column.kind)


def _is_json(column: Column) -> bool:
    """Whether it is a whole document, as JSON or as the text of it."""
    return not column.path and column.kind in ("json", "text")


def _fitted(schema: str, text: str, kind: Kind) -> str:
    """What the text says as that type, null if it says something else."""
    return text if kind == "text" else f"{schema}.as_{kind}({text})"


def _said(column: Column) -> str:
    """What an inserted row says, as text where its type is none that a field's could be made of."""
    new = _new(column)
    return f"(to_jsonb({new}) #>> '{{}}')" if column.kind in ("json", "time") else new


def _new(column: Column) -> str:
    return f"NEW.{quoted(column.name)}"
