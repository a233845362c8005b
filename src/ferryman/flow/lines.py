"""Lines: for each value that jobs share, who may run and who waits, in the order of the claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ferryman.clock import Clock
    from ferryman.flow.shared import Document, Value

LINE_CELLS: Final = "line/"

Place = tuple[str, str]
"""A value, and the claim that stands in its line."""


class Lines:
    """The lines of one task, as one worker sees them: of each, the first `limit` may run.

    Workers poll such a task in turns, and who polled joins the lines before the next one polls. So
    lines have the order of the store, whichever worker has the job. A place is held like a lease.
    The document is `{"turn": [worker, ends_at], "lines": {value: [[claim, worker, ends_at], …]}}`.
    """

    def __init__(self, limit: int, worker: str, value: Value, clock: Clock) -> None:
        self._limit = limit
        self._worker = worker
        self._value = value
        self.clock = clock

    def take_turn(self, seconds: float) -> bool:
        """Whether this worker may poll now, for at most so many seconds."""

        def step(document: Document) -> tuple[Document | None, bool]:
            now = self.clock.now()
            worker, ends_at = document.get("turn") or (self._worker, 0.0)
            if worker != self._worker and ends_at > now:
                return None, False
            return {**document, "turn": [self._worker, now + seconds]}, True

        return self._value.change(step)

    def join(self, places: Sequence[Place], seconds: float) -> set[str]:
        """Stand in these lines for so many seconds, and end the turn; which claims may run."""

        def step(document: Document) -> tuple[Document | None, set[str]]:
            now = self.clock.now()
            lines = self._living(document, now)
            for value, claim in places:
                line = lines.setdefault(value, [])
                if all(place[0] != claim for place in line):
                    line.append([claim, self._worker, now + seconds])
            turn = document.get("turn") or [self._worker, 0.0]
            kept = {} if turn[0] == self._worker else {"turn": turn}
            return {**kept, "lines": lines}, self._first(lines)

        return self._value.change(step)

    def leave(self, claims: Collection[str], seconds: float) -> set[str]:
        """Give up these places and hold the others for so many seconds; which claims may run."""

        def step(document: Document) -> tuple[Document | None, set[str]]:
            now = self.clock.now()
            lines: dict[str, list[Any]] = {}
            for value, line in self._living(document, now).items():
                kept = [
                    [claim, worker, now + seconds if worker == self._worker else ends_at]
                    for claim, worker, ends_at in line
                    if claim not in claims
                ]
                if kept:
                    lines[value] = kept
            return {**document, "lines": lines}, self._first(lines)

        return self._value.change(step)

    def first(self) -> set[str]:
        """Which of this worker's claims may run now."""
        return self._first(self._living(self._value.read(), self.clock.now()))

    def _living(self, document: Document, now: float) -> dict[str, list[Any]]:
        lines = document.get("lines", {})
        living = {
            value: [place for place in line if place[2] > now] for value, line in lines.items()
        }
        return {value: line for value, line in living.items() if line}

    def _first(self, lines: dict[str, list[Any]]) -> set[str]:
        return {
            claim
            for line in lines.values()
            for claim, worker, _ in line[: self._limit]
            if worker == self._worker
        }
