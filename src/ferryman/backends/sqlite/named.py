"""Jobs by queue, task and state alone: found by the indexes, however rare they are."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from heapq import nlargest
from typing import TYPE_CHECKING, Any, Final

from ferryman.backends.sql.named import MOST_LINES, Line
from ferryman.backends.sql.rows import STATES
from ferryman.backends.sql.where import where
from ferryman.backends.sqlite.counts import SCHEDULED
from ferryman.backends.sqlite.filtering import DIALECT
from ferryman.backends.sqlite.transaction import SQL
from ferryman.filter import Filter
from ferryman.job import TERMINAL, State

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping, Sequence

_BEYOND: Final = 1 << 62
# SQLite puts together at most 500 SELECTs.
_AT_ONCE: Final = 400
_ASIDE: Final = frozenset({State.FAILED, State.CANCELLED, State.PAUSED})


def newest(
    connection: sqlite3.Connection, query: Filter, before: int, limit: int
) -> Sequence[int] | None:
    """Where the newest matches stand in push order; None where there are too many lines to ask."""
    lines = _Lines(connection, query)
    if lines.too_many:
        return None
    asks = [(text, [*values, before, limit]) for _, text, values in lines.asks()]
    found: list[int] = []
    # All at once: each row that comes by itself is a moment in which another thread may run, and
    # of many lines' rows few are for the page.
    for start in range(0, len(asks), _AT_ONCE):
        some = asks[start : start + _AT_ONCE]
        lists = " UNION ALL ".join(f"SELECT * FROM ({text})" for text, _ in some)  # noqa: S608
        values = [value for _, values in some for value in values]
        statement = SQL["newest_of"].replace("{lists}", lists)
        [seqs] = connection.execute(statement, [*values, limit]).fetchone()
        found += json.loads(seqs)
    return nlargest(limit, found)


def counts(connection: sqlite3.Connection, query: Filter, most: int) -> Mapping[State, int] | None:
    """Matches by state, each counted up to `most`; None where there are too many lines to ask."""
    lines = _Lines(connection, query)
    if lines.too_many:
        return None
    counted: Counter[State] = Counter()
    for state, text, values in lines.asks():
        left = [*values, _BEYOND, most - counted[state]]
        counted[state] += connection.execute(f"SELECT count(*) FROM ({text})", left).fetchone()[0]  # noqa: S608
    return counted


class _Lines:
    """The lines of finished and of ready jobs that match; `too_many`: they were not all found.

    The counters tell which queues have jobs of which state at all.
    """

    def __init__(self, connection: sqlite3.Connection, query: Filter) -> None:
        self._query = query
        self._states: defaultdict[str, set[str]] = defaultdict(set)
        for queue, state, _ in connection.execute(SQL["counts"]):
            self._states[queue].add(state)
        # All of a state that is set aside stand in push order already; else only the paused ones
        # are looked for there, which are in no line.
        every = not self._only("queue", "task").terms
        self._aside = _ASIDE if every else frozenset({State.PAUSED})
        self._lines: list[tuple[str, Line]] = []
        self.too_many = False
        for kind, possible in (("ended", TERMINAL - self._aside), ("ready", {State.PENDING})):
            for queue, states in self._states.items():
                wanted = [one for one in states & possible if self._wants(queue, one)]
                tasks = _tasks(connection, kind, queue) if wanted else []
                found = [Line(queue, task, state) for task in tasks for state in wanted]
                self._lines += [(kind, line) for line in found if line.matches(query)]
                if len(tasks) > MOST_LINES or len(self._lines) > MOST_LINES:
                    self.too_many = True
                    return

    def asks(self) -> Iterator[tuple[State, str, list[Any]]]:
        """For each line, and for what is in none: its state, and a statement with its values.

        The values of all of them end with the place to begin at, and the most to find.
        """
        for kind, line in self._lines:
            values = [line.queue, line.task, *([line.state] if kind == "ended" else [])]
            yield STATES[line.state], SQL[f"newest_{kind}"], values
        text, names = self._where("task")
        for queue, states in self._states.items():
            if SCHEDULED in states and self._wants(queue, State.PENDING):
                scheduled = SQL["newest_scheduled"].replace("{where}", text)
                yield State.PENDING, scheduled, [queue, *names]
        text, names = self._where("queue", "task")
        if self._can_match(State.PROCESSING):
            yield State.PROCESSING, SQL["newest_claimed"].replace("{where}", text), names
        for state in filter(self._can_match, self._aside):
            yield state, SQL["newest_aside"].replace("{where}", text), [state, *names]

    def _can_match(self, state: State) -> bool:
        return any(state in states and self._wants(q, state) for q, states in self._states.items())

    def _wants(self, queue: str, state: str) -> bool:
        """Whether jobs of a queue and state can match, whatever their task."""
        return Line(queue, "", state).matches(self._only("queue", "state"))

    def _where(self, *fields: str) -> tuple[str, list[Any]]:
        return where(self._only(*fields), 0.0, DIALECT)

    def _only(self, *fields: str) -> Filter:
        return Filter(tuple(term for term in self._query.terms if term.field in fields))


def _tasks(connection: sqlite3.Connection, kind: str, queue: str) -> list[str]:
    values = {"queue": queue, "limit": MOST_LINES + 1}
    return [task for (task,) in connection.execute(SQL[f"{kind}_tasks"], values)]
