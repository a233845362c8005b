"""What a list must look at: as few jobs as the database can tell from a filter.

It decides what it compares as Python does: names, numbers, times and meta. Of payloads and parts
of texts it only rules out what cannot match, and `Filter.matches` decides: databases lower letters
and read numbers in ways of their own.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from ferryman.backends.postgresql.transaction import can_exist
from ferryman.backends.sql.where import Dialect, where
from ferryman.filter import AGES, EXACT, NUMBERS, Filter
from ferryman.job import TERMINAL, State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.filter import Term

    Clause = tuple[str, list[Any]]

_DECIDED: Final = EXACT | NUMBERS | AGES
# The two texts are never used: payloads and parts of texts do not get there.
_DIALECT: Final = Dialect(mark="%s", has="", payload="")
_SEARCHED: Final = ("id", "task", "key", "correlation_id", "error")
# In JSON such a value stands as it is, unless something is escaped; numbers with a point may be
# written in several ways.
_LITERAL: Final = re.compile(r"[A-Za-z0-9_ -]+")


def places(query: Filter) -> Sequence[str]:
    """The tables that can hold a match."""
    states = set(State)
    for term in query.terms:
        if term.field == "state":
            named = {state for state in State if state in term.values}
            states = states - named if term.negated else states & named
    kept = {"jobs": states - TERMINAL, "history": states & TERMINAL}
    return [table for table, possible in kept.items() if possible]


def narrow(query: Filter, now: float) -> tuple[str, list[Any], bool]:
    """A condition with its values, and whether it says all that the filter says."""
    askable = [term for term in query.terms if all(can_exist(str(v)) for v in term.values)]
    plain = [term for term in askable if term.field in _DECIDED]
    meta = [term for term in askable if term.field == "meta" and can_exist(term.path[0])]
    rest = [term for term in askable if term.field not in _DECIDED and term.field != "meta"]
    text, values = where(Filter(tuple(plain)), now, _DIALECT)
    for clause, more in [*map(_has_meta, meta), *map(_may_hold, rest)]:
        text, values = f"{text} AND {clause}", [*values, *more]
    return text, values, len(plain) + len(meta) == len(query.terms)


def _has_meta(term: Term) -> Clause:
    name = term.path[0]
    wanted = [json.dumps({name: value}, ensure_ascii=False) for value in term.values]
    one_of = " OR ".join(["meta::jsonb @> %s::jsonb"] * len(wanted))
    found = f"(meta IS NOT NULL AND ({one_of}))"
    return f"NOT {found}" if term.negated else found, list(wanted)


def _may_hold(term: Term) -> Clause:
    """A condition that every match fulfils, and as little else as possible."""
    values = [str(value) for value in term.values]
    if term.negated:
        return "TRUE", []
    if term.field == "payload":
        if not all(_LITERAL.fullmatch(value) for value in values):
            return "TRUE", []
        held = " OR ".join(["strpos(body, %s) > 0"] * len(values))
        return rf"({held} OR strpos(body, E'\\u') > 0)", values
    if not all(value.isascii() for value in values):
        return "TRUE", []
    columns = ("error",) if term.field == "error" else _SEARCHED
    # "C" lowers ASCII letters only; where there are others, Python has to look.
    texts = [
        f"strpos(lower({column}), %s) > 0 OR octet_length({column}) <> length({column})"
        for column in columns
    ]
    held = " OR ".join(text for _ in values for text in texts)
    return f"({held})", [value.lower() for value in values for _ in columns]
