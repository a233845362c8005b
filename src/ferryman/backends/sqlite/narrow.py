"""What a list must look at: a few jobs of rare states, found by their indexes, or all of them.

A page goes through the jobs from the newest on until it is full, which is right for everything but
a rare state: three pending jobs under a million completed ones would cost a look at each of those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ferryman.backends.sqlite.transaction import SQL
from ferryman.job import State

if TYPE_CHECKING:
    import sqlite3

    from ferryman.filter import Filter

FEW: Final = 5_000
_ALL: Final = "TRUE"


def narrow(connection: sqlite3.Connection, query: Filter) -> str:
    """A condition that spares what the filter's states exclude; it changes no answer."""
    states = _states(query)
    if State.COMPLETED in states or _count(connection, states) > FEW:
        return _ALL
    return f"seq IN ({' UNION ALL '.join(SQL[f'of_{state}'] for state in sorted(states))})"


def _states(query: Filter) -> set[State]:
    states = set(State)
    for term in query.terms:
        if term.field == "state" and not term.negated:
            states &= {state for state in State if state in term.values}
    return states


def _count(connection: sqlite3.Connection, states: set[State]) -> int:
    return sum(n for _, state, n in connection.execute(SQL["counts"]) if state in states)
