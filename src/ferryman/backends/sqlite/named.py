"""Jobs by queue, task and state alone: found by the indexes, however rare they are."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from heapq import nlargest
from typing import TYPE_CHECKING, Any, Final

from ferryman.backends.sql.named import CLOSE, MOST_LINES
from ferryman.backends.sql.rows import STATES
from ferryman.backends.sql.where import where
from ferryman.backends.sqlite.counts import SCHEDULED
from ferryman.backends.sqlite.filtering import DIALECT
from ferryman.backends.sqlite.transaction import SQL
from ferryman.filter import Filter, Line
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
    waiting = _newest_waiting(connection, query, before, limit)
    lines = _Lines(connection, query, waiting=waiting is None)
    if lines.too_many:
        return None
    asks = [(text, [*values, before, limit]) for _, text, values in lines.asks()]
    found = list(waiting or ())
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


def _newest_waiting(
    connection: sqlite3.Connection, query: Filter, before: int, limit: int
) -> Sequence[int] | None:
    """The newest pending jobs that match; None where it takes a look at their lines to tell.

    Pending jobs have an index in push order, along which those of rare names are far apart. Their
    lines stand in the order of claims, and are read whole: short ones, and those which thousands of
    newer jobs stand before.
    """
    if not Line("", "", State.PENDING).matches(_only(query, "state")):
        return []
    names = _only(query, "queue", "task")
    matching, others = _waiting(connection, query)
    if names.terms and matching <= CLOSE:
        return None
    # Whatever the order, no more of the other queues than these can stand in between.
    dense = others <= matching and not _only(query, "task").terms
    text, values = where(names, 0.0, DIALECT)
    statement = SQL["newest_waiting"].replace("{where}", text)
    found: list[int] = []
    for scheduled in (0, 1):
        low = 0 if dense else _far(connection, scheduled, before)
        given = [scheduled, *values, low, before, limit]
        seqs = [seq for (seq,) in connection.execute(statement, given)]
        if len(seqs) < limit and low:
            return None
        found += seqs
    return found


def _waiting(connection: sqlite3.Connection, query: Filter) -> tuple[int, int]:
    """How many pending jobs the queues have that match, and how many the others."""
    queues, counted = _only(query, "queue"), [0, 0]
    for queue, state, n in connection.execute(SQL["counts"]):
        if state == State.PENDING:
            counted[not Line(queue, "", state).matches(queues)] += n
    return counted[0], counted[1]


def _far(connection: sqlite3.Connection, scheduled: int, before: int) -> int:
    """Where the newest pending jobs end that are looked at one by one; 0 if all of them are."""
    row = connection.execute(SQL["far_waiting"], [scheduled, before, CLOSE]).fetchone()
    return 0 if row is None else int(row[0])


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

    The counters tell which queues have jobs of which state at all. Without `waiting`, pending jobs
    are left out.
    """

    def __init__(
        self, connection: sqlite3.Connection, query: Filter, *, waiting: bool = True
    ) -> None:
        self._query = query
        left_out = () if waiting else (State.PENDING, SCHEDULED)
        self._states: defaultdict[str, set[str]] = defaultdict(set)
        for queue, state, _ in connection.execute(SQL["counts"]):
            if state not in left_out:
                self._states[queue].add(state)
        # All of a state that is set aside stand in push order already; else only the paused ones
        # are looked for there, which are in no line.
        every = not _only(query, "queue", "task").terms
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
        return Line(queue, "", state).matches(_only(self._query, "queue", "state"))

    def _where(self, *fields: str) -> tuple[str, list[Any]]:
        return where(_only(self._query, *fields), 0.0, DIALECT)


def _only(query: Filter, *fields: str) -> Filter:
    return Filter(tuple(term for term in query.terms if term.field in fields))


def _tasks(connection: sqlite3.Connection, kind: str, queue: str) -> list[str]:
    values = {"queue": queue, "limit": MOST_LINES + 1}
    return [task for (task,) in connection.execute(SQL[f"{kind}_tasks"], values)]
