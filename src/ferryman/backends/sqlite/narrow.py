"""What a list must look at: a few jobs, found by their indexes, or all of them.

A page goes through the jobs from the newest on until it is full, which is right for everything but
what is rare: three pending jobs under a million completed ones would cost a look at each of those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ferryman.backends.sql.named import MANY, ended_badly
from ferryman.backends.sqlite.transaction import SQL
from ferryman.job import State

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from ferryman.filter import Filter

FEW: Final = 5_000
_ALL: Final = "TRUE"


def narrow(connection: sqlite3.Connection, query: Filter) -> str:
    """A condition that spares what the filter's states exclude; it changes no answer."""
    states = _states_of(query)
    if State.COMPLETED in states or _count(connection, states) > FEW:
        return _ALL
    return f"seq IN ({' UNION ALL '.join(SQL[f'of_{state}'] for state in sorted(states))})"


def recent(
    connection: sqlite3.Connection, query: Filter, now: float, before: int
) -> Sequence[int] | None:
    """Where the jobs stand that failed or were cancelled lately, newest first, if only those match.

    Of too many, None: a walk finds enough of them for a page.
    """
    asked = ended_badly(query)
    if asked is None:
        return None
    states, age = asked
    seqs: list[int] = []
    for state in dict.fromkeys(states):
        # A little more than asked for: the filter itself decides at the edge.
        values = {"state": state, "since": now - age - 1.0, "limit": MANY - len(seqs) + 1}
        seqs += [seq for (seq,) in connection.execute(SQL["ended_since"], values)]
        if len(seqs) > MANY:
            return None
    return sorted((seq for seq in seqs if seq < before), reverse=True)


def _states_of(query: Filter) -> set[State]:
    """The states that can match."""
    states = set(State)
    for term in query.terms:
        if term.field == "state" and not term.negated:
            states &= {state for state in State if state in term.values}
    return states


def _count(connection: sqlite3.Connection, states: set[State]) -> int:
    return sum(n for _, state, n in connection.execute(SQL["counts"]) if state in states)
