"""Filters by queue, task and state alone: the lines of jobs that they choose among."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, cast

from ferryman.job import State

if TYPE_CHECKING:
    from ferryman.filter import Filter
    from ferryman.job import Job

NAMES: Final = frozenset({"queue", "task", "state"})
MOST_LINES: Final = 500
"""Lines that are looked at one by one; a store with more of them is walked through instead."""
MANY: Final = 20_000
"""Ends that are found by their time; of more than these, a walk finds enough for a page."""
CLOSE: Final = 5_000
"""Places in push order in which a page is looked for first: most pages are full by then."""

_BAD: Final = frozenset({State.FAILED, State.CANCELLED})


class Line(NamedTuple):
    """Jobs that have the same three names."""

    queue: str
    task: str
    state: str

    def matches(self, query: Filter) -> bool:
        """Whether its jobs match; asked only of filters that are `by_name`."""
        return query.matches(cast("Job", self), 0.0)


def by_name(query: Filter) -> bool:
    """Whether the three names decide what matches."""
    return bool(query.terms) and all(term.field in NAMES for term in query.terms)


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


def by_key(query: Filter) -> bool:
    """Whether it names something that few jobs share, so that its index finds them."""
    return any(
        term.field in ("id", "key", "correlation_id", "meta") and not term.negated
        for term in query.terms
    )
