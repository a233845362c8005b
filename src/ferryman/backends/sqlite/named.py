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
    from collections.abc import Collection, Iterator, Mapping, Sequence

_BEYOND: Final = 1 << 62
# SQLite puts together at most 500 SELECTs.
_AT_ONCE: Final = 400
_ASIDE: Final = frozenset({State.FAILED, State.CANCELLED, State.PAUSED})
# The two kinds of pending jobs, by the counters that tell of them.
_READY: Final[str] = State.PENDING
_KINDS: Final = {_READY: 0, SCHEDULED: 1}


def newest(
    connection: sqlite3.Connection, query: Filter, before: int, limit: int
) -> Sequence[int] | None:
    """Where the newest matches stand in push order; None where there are too many lines to ask."""
    found, by_lines = _newest_waiting(connection, query, before, limit)
    lines = _Lines(connection, query, by_lines)
    if lines.too_many:
        return None
    asks = [(text, [*values, before, limit]) for _, text, values in lines.asks()]
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
) -> tuple[list[int], set[str]]:
    """The newest pending jobs that match, and the kinds of which only their lines tell.

    Pending jobs have an index in push order, along which those of rare names are far apart. Their
    lines stand in the order of claims, and are read whole: short ones, and those which thousands of
    newer jobs stand before.
    """
    found: list[int] = []
    by_lines: set[str] = set()
    if not Line("", "", State.PENDING).matches(_only(query, "state")):
        return found, by_lines
    for kind, (matching, others) in _waiting(connection, query).items():
        seqs = _in_push_order(
            connection, query, kind, before, limit, matching=matching, others=others
        )
        if seqs is None:
            by_lines.add(kind)
        else:
            found += seqs
    return found, by_lines


def _waiting(connection: sqlite3.Connection, query: Filter) -> Mapping[str, Sequence[int]]:
    """How many jobs of each kind the queues have that match, and how many the others."""
    queues = _only(query, "queue")
    counted = {kind: [0, 0] for kind in _KINDS}
    for queue, state, n in connection.execute(SQL["counts"]):
        other = not Line(queue, "", state).matches(queues)
        if state in _KINDS:
            counted[state][other] += n
        if state == SCHEDULED:  # which the counter of pending jobs counts too
            counted[_READY][other] -= n
    return counted


def _in_push_order(
    connection: sqlite3.Connection,
    query: Filter,
    kind: str,
    before: int,
    limit: int,
    *,
    matching: int,
    others: int,
) -> Sequence[int] | None:
    """The newest of a kind that match; None where only their lines tell."""
    if not matching:
        return []
    names = _only(query, "queue", "task")
    if names.terms and matching <= CLOSE:
        return None
    # Whatever the order, no more of the other queues than these can stand in between; a step past
    # one of them may cost two in a line.
    dense = 2 * others <= matching and not _only(query, "task").terms
    low = 0 if dense else _far(connection, kind, before)
    text, values = where(names, 0.0, DIALECT)
    statement = SQL["newest_waiting"].replace("{where}", text)
    given = [_KINDS[kind], *values, low, before, limit]
    seqs = [seq for (seq,) in connection.execute(statement, given)]
    return None if len(seqs) < limit and low else seqs


def _far(connection: sqlite3.Connection, kind: str, before: int) -> int:
    """Where the newest pending jobs end that are looked at one by one; 0 if all of them are."""
    row = connection.execute(SQL["far_waiting"], [_KINDS[kind], before, CLOSE]).fetchone()
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

    The counters tell which queues have jobs of which state at all. Of pending jobs, only
    these kinds are asked for.
    """

    def __init__(
        self, connection: sqlite3.Connection, query: Filter, kinds: Collection[str] = _KINDS
    ) -> None:
        self._query = query
        self._states: defaultdict[str, set[str]] = defaultdict(set)
        for queue, state, _ in connection.execute(SQL["counts"]):
            if state in kinds or state not in _KINDS:
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
