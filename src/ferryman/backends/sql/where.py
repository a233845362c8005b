"""A filter as a WHERE clause: fixed text and parameters, never a value inside the SQL."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ferryman.errors import InvalidFilter
from ferryman.filter import AGES, EXACT, NUMBERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.filter import Filter, Term

Clause = tuple[str, list[Any]]

_SEARCHED = ("id", "task", "key", "correlation_id", "error")
# So few jobs share one of these that their index is worth a sort.
_RARE = ("id", "key", "correlation_id")
_NOTHING: Clause = ("FALSE", [])


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one database writes what the others write differently.

    `mark` is its placeholder. `has` tells whether `{column}` holds a lower-case text given as
    parameter; `payload` is the text of the payload's value at a path given as JSON list, else NULL.
    `unindexed` keeps a planner from an index on the column: pages go by push order, and any other
    index would mean to sort all that match for every page.
    """

    mark: str
    has: str
    payload: str
    unindexed: str = "{column}"


def where(query: Filter, now: float, dialect: Dialect) -> Clause:
    """What `Filter.matches` says, in SQL."""
    texts, values = ["TRUE"], []
    for term in query.terms:
        text, more = _clause(term, now, dialect)
        # NULL counts as "does not hold", so its negation must hold.
        texts.append(f"({text}) IS NOT TRUE" if term.negated else f"({text})")
        values += more
    return " AND ".join(texts), values


def _clause(term: Term, now: float, dialect: Dialect) -> Clause:
    if term.field == "payload":
        text, values = _one_of(dialect.payload, term.values, dialect)
        return text, [json.dumps(term.path), *values]
    if term.field == "meta":
        text, values = _one_of("value", term.values, dialect)
        found = f"SELECT seq FROM meta WHERE name = {dialect.mark} AND {text}"  # noqa: S608
        return f"seq IN ({found})", [term.path[0], *values]
    if term.field in AGES:
        since = "created_at" if term.field == "age" else "finished_at"
        moment = dialect.unindexed.format(column=since)
        text, values = _compared(f"{dialect.mark} - {moment}", term, dialect)
        return text, [now, *values] if values else []
    if term.field in NUMBERS:
        return _compared(term.field, term, dialect)
    if term.field == "error":
        return _has_one_of(("error",), term, dialect)
    if term.field == "text":
        return _has_one_of(_SEARCHED, term, dialect)
    if term.field in _RARE:
        return _one_of(term.field, term.values, dialect)
    if term.field in EXACT:
        column = dialect.unindexed.format(column=term.field)
        return _one_of(column, term.values, dialect)
    raise InvalidFilter(f"unknown field {term.field!r}")


def _one_of(expression: str, values: Sequence[Any], dialect: Dialect) -> Clause:
    if not values:
        return _NOTHING
    return f"{expression} IN ({', '.join([dialect.mark] * len(values))})", [*values]


def _compared(expression: str, term: Term, dialect: Dialect) -> Clause:
    numbers = [value for value in term.values if isinstance(value, float)]
    if not numbers or numbers[0] is not term.values[0]:
        return _NOTHING
    if term.op == "is":
        return _one_of(expression, numbers, dialect)
    return f"{expression} {term.op} {dialect.mark}", numbers[:1]


def _has_one_of(columns: Sequence[str], term: Term, dialect: Dialect) -> Clause:
    tests = [dialect.has.format(column=column) for column in columns]
    values = [str(value).lower() for value in term.values]
    if not values:
        return _NOTHING
    return " OR ".join(tests * len(values)), [value for value in values for _ in tests]
