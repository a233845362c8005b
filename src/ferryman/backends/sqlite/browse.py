"""get, list and snapshot: what operators see, read without disturbing the writer."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from ferryman.backends.sql.named import CLOSE
from ferryman.backends.sql.rows import SEQ, STATES, can_exist, job_of
from ferryman.backends.sql.where import where
from ferryman.backends.sqlite import named
from ferryman.backends.sqlite.counts import SCHEDULED
from ferryman.backends.sqlite.filtering import DIALECT
from ferryman.backends.sqlite.narrow import narrow, recent
from ferryman.backends.sqlite.transaction import SQL
from ferryman.errors import InvalidFilter
from ferryman.job import State
from ferryman.queue.answers import Page, QueueCounts, Snapshot

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from ferryman.filter import Filter
    from ferryman.job import Job

_BEYOND: Final = 1 << 62
# Places that are looked at for each job of a page by names.
_GLANCE: Final = 10


def get(connection: sqlite3.Connection, job_id: str) -> Job | None:
    """The whole job."""
    if not can_exist(job_id):
        return None
    row = connection.execute(SQL["get"], {"id": job_id}).fetchone()
    if row is None:
        return None
    of_job = {"seq": row[SEQ]}
    return job_of(
        row,
        connection.execute(SQL["errors"], of_job).fetchall(),
        connection.execute(SQL["logs"], of_job).fetchall(),
    )


def list_jobs(
    connection: sqlite3.Connection, query: Filter, now: float, limit: int, after: str | None
) -> Page:
    """One page; its `next` is the seq of its last job, after which the next page goes on."""
    rows = _rows(connection, query, now, _seq(after), limit + 1)
    more = str(rows[limit - 1][SEQ]) if len(rows) > limit else None
    return Page(tuple(map(job_of, rows[:limit])), more)


def count(connection: sqlite3.Connection, query: Filter, most: int) -> Mapping[State, int] | None:
    """Matches by state up to `most` each, if the indexes tell; None if not."""
    return named.counts(connection, query, most) if query.by_name else None


def snapshot(connection: sqlite3.Connection, now: float) -> Snapshot:
    """The maintained counters, with the scheduled jobs that have become due meanwhile."""
    paused = {queue for (queue,) in connection.execute(SQL["paused_queues"])}
    states: defaultdict[str, dict[State, int]] = defaultdict(dict)
    scheduled: dict[str, int] = {}
    ages: dict[str, float | None] = {}
    for queue, state, n in connection.execute(SQL["counts"]).fetchall():
        if state == SCHEDULED:
            (due,) = connection.execute(SQL["due"], {"queue": queue, "now": now}).fetchone()
            scheduled[queue] = n - due
        else:
            states[queue][STATES[state]] = n
            if state == State.PENDING:
                ages[queue] = _oldest_ready(connection, queue, now)
    return Snapshot(
        now,
        {
            queue: QueueCounts(
                queue, states[queue], scheduled.get(queue, 0), queue in paused, ages.get(queue)
            )
            for queue in sorted(paused | states.keys())
        },
    )


def _rows(
    connection: sqlite3.Connection, query: Filter, now: float, before: int, limit: int
) -> Sequence[Sequence[Any]]:
    text, values = where(query, now, DIALECT)
    statement = SQL["list"].replace("{where}", text)
    if (seqs := recent(connection, query, now, before)) is not None:
        return _of_these(connection, statement, values, seqs, limit)
    if not query.by_key:
        # Among the newest jobs first: most pages are full by then. By name, what is farther away is
        # found sooner by the indexes.
        places = min(CLOSE, _GLANCE * limit) if query.by_name else CLOSE
        [last] = connection.execute(SQL["newest"]).fetchone()
        low = min(before, last + 1) - places
        close = statement.replace("{narrow}", "TRUE")
        rows = connection.execute(close, [*values, before, low, limit]).fetchall()
        if len(rows) == limit or low <= 0:
            return rows
    if query.by_name and (seqs := named.newest(connection, query, before, limit)) is not None:
        return connection.execute(SQL["these"], {"seqs": json.dumps(seqs)}).fetchall()
    narrowed = statement.replace("{narrow}", narrow(connection, query))
    return connection.execute(narrowed, [*values, before, 0, limit]).fetchall()


def _of_these(
    connection: sqlite3.Connection,
    statement: str,
    values: Sequence[Any],
    seqs: Sequence[int],
    limit: int,
) -> Sequence[Sequence[Any]]:
    """Those that match among jobs in the order of `seqs`; no more are read than it takes."""
    chosen = statement.replace("{narrow}", "seq IN (SELECT value FROM json_each(?))")
    rows: list[Sequence[Any]] = []
    for start in range(0, len(seqs), limit):
        these = json.dumps(seqs[start : start + limit])
        left = limit - len(rows)
        rows += connection.execute(chosen, [these, *values, _BEYOND, 0, left]).fetchall()
        if len(rows) == limit:
            break
    return rows


def _oldest_ready(connection: sqlite3.Connection, queue: str, now: float) -> float | None:
    [since] = connection.execute(SQL["oldest_ready"], {"queue": queue, "now": now}).fetchone()
    return None if since is None else max(0.0, now - since)


def _seq(after: str | None) -> int:
    if after is None:
        return _BEYOND
    if not (after.isascii() and after.isdecimal() and len(after) < 19):
        raise InvalidFilter(f"after={after!r} is not the `next` of a page")
    return int(after)
