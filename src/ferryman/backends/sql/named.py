"""What both databases hold on to where they look for jobs by their names or their ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ferryman.job import State

if TYPE_CHECKING:
    from ferryman.filter import Filter

MOST_LINES: Final = 500
"""Lines that are looked at one by one; a store with more of them is walked through instead."""
MANY: Final = 20_000
"""Ends that are found by their time; of more than these, a walk finds enough for a page."""
CLOSE: Final = 5_000
"""Places in push order in which a page is looked for first: most pages are full by then."""

_BAD: Final = frozenset({State.FAILED, State.CANCELLED})


def ended_badly(query: Filter) -> tuple[list[str], float] | None:
    """The states and the age, if only jobs match that failed or were cancelled lately."""
    ages = [
        float(term.values[0])
        for term in query.terms
        if term.field == "finished" and term.op in ("<", "<=") and not term.negated
    ]
    for term in query.terms:
        if term.field == "state" and not term.negated and ages and _BAD.issuperset(term.values):
            return [str(state) for state in term.values], min(ages)
    return None
