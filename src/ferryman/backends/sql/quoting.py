"""Names and texts inside statements in which nothing can be bound, such as those of views."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferryman.queue.view import Column


def quoted(name: str) -> str:
    """A name that `View` has checked."""
    return f'"{name}"'


def literal(value: str) -> str:
    """Any text as a constant."""
    doubled = value.replace("'", "''")
    return f"'{doubled}'"


def states_of(column: Column) -> str:
    """The state by a column's own names."""
    cases = " ".join(
        f"WHEN {literal(state)} THEN {literal(name)}" for state, name in column.states.items()
    )
    return f"CASE state {cases} ELSE state END"
