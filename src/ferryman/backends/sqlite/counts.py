"""The counters behind `snapshot`, changed by the verbs in the transaction that moves the jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ferryman.job import State

if TYPE_CHECKING:
    from collections.abc import Sequence

SCHEDULED: Final = "scheduled"


class Tally:
    """What one transaction adds to the counters, gathered so that a batch costs a few rows."""

    __slots__ = ("_changes", "wakes")

    def __init__(self) -> None:
        self._changes: dict[tuple[str, str], int] = {}
        self.wakes = False
        """Whether a waiting worker may find something new."""

    def add(self, queue: str, state: str, n: int = 1) -> None:
        key = (queue, str(state))
        self._changes[key] = self._changes.get(key, 0) + n
        if n > 0 and state == State.PENDING:
            self.wakes = True

    def move(self, queue: str, before: str, after: str, n: int = 1) -> None:
        self.add(queue, before, -n)
        self.add(queue, after, n)

    def rows(self) -> Sequence[tuple[str, str, int]]:
        return [(queue, state, n) for (queue, state), n in self._changes.items() if n]
