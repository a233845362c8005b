"""get, list and snapshot: what operators see."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from ferryman.backends.postgresql import named
from ferryman.backends.postgresql.narrow import narrow, places
from ferryman.backends.postgresql.transaction import can_exist
from ferryman.backends.sql.named import CLOSE, MANY, ended_badly
from ferryman.backends.sql.rows import SEQ, STATES, job_of
from ferryman.errors import InvalidFilter
from ferryman.queue.answers import Page, QueueCounts, Snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferryman.backends.postgresql.connection import Database
    from ferryman.filter import Filter
    from ferryman.job import Job, State

_BEYOND: Final = 1 << 62
# Where the database cannot decide, at least this many jobs are looked at in one go.
_LOOK: Final = 500


def get(database: Database, job_id: str) -> Job | None:
    """The whole job."""
    if not can_exist(job_id):
        return None
    rows = database.read("get", {"id": job_id})
    if not rows:
        return None
    *row, errors, logs = rows[0]
    return job_of(row, json.loads(errors or "[]"), json.loads(logs or "[]"))


def list_jobs(database: Database, query: Filter, limit: int, after: str | None) -> Page:
    """One page; its `next` is the seq of its last job, after which the next page goes on.

    The database narrows the jobs down, `Filter.matches` decides: so every backend answers alike.
    """
    now = database.clock.now()
    before = _seq(after)
    tables = places(query)
    if not tables:
        return Page(())
    if (seqs := _ended_badly(database, query, now, before)) is not None:
        return _of_these(database, query, now, limit, seqs)
    if query.by_name and (page := _named(database, query, now, limit, before)) is not None:
        return page
    low = _newest(database, tables, before) + 1 - CLOSE
    page = _walked(database, query, now, limit, (before, low))
    if page.next is not None or low <= 0:
        return page
    # A run of a pipeline may share its name with a million jobs, and then the newest fill a page;
    # of few, a walk in push order would lead past all others.
    order = "seq + 0" if query.by_key else "seq"
    return _walked(database, query, now, limit, (before, 0), order=order)


def count(database: Database, query: Filter, most: int) -> Mapping[State, int] | None:
    """Matches by state up to `most` each, if the indexes tell; None if not."""
    return named.counts(database, query, most) if query.by_name else None


def _ended_badly(
    database: Database, query: Filter, now: float, before: int
) -> Sequence[int] | None:
    """Where the jobs stand that failed or were cancelled lately, newest first, if only those match.

    Of too many, None: a walk finds enough of them for a page.
    """
    asked = ended_badly(query)
    if asked is None:
        return None
    states, age = asked
    # A little more than asked for: the filter itself decides at the edge.
    values = {"states": states, "since": now - age - 1.0, "limit": MANY + 1}
    seqs = [seq for (seq,) in database.read_planned(database.sql["ended_badly"], values)]
    return None if len(seqs) > MANY else sorted((s for s in seqs if s < before), reverse=True)


def _of_these(
    database: Database, query: Filter, now: float, limit: int, seqs: Sequence[int]
) -> Page:
    """A page of the matches among jobs in the order of `seqs`; no more are read than needed."""
    found: list[Job] = []
    for start in range(0, len(seqs), limit + 1):
        rows = database.read("these", {"seqs": list(seqs[start : start + limit + 1])})
        found += [job for job in map(job_of, rows) if query.matches(job, now)]
        if len(found) > limit:
            break
    return Page(tuple(found[:limit]), str(found[limit - 1].seq) if len(found) > limit else None)


def _named(database: Database, query: Filter, now: float, limit: int, before: int) -> Page | None:
    while (seqs := named.newest(database, query, before, limit + 1)) is not None:
        jobs = map(job_of, database.read("these", {"seqs": seqs[:limit]}))
        # One that has moved on since it was found is no match any more.
        matching = tuple(job for job in jobs if query.matches(job, now))
        if len(seqs) <= limit:
            return Page(matching)
        if matching:
            return Page(matching, str(seqs[limit - 1]))
        before = seqs[limit - 1]
    return None


def _walked(
    database: Database,
    query: Filter,
    now: float,
    limit: int,
    between: tuple[int, int],
    *,
    order: str = "seq",
) -> Page:
    """A page of the jobs between two places in push order, looked at from the newest on.

    With `order` spelt so that the primary key is of no use, few are found by another index and
    sorted: the walk to them may lead past all others.
    """
    where, values, decided = narrow(query, now)
    tables = places(query)
    statement = database.sql[f"list_{'_and_'.join(tables)}"].replace("{where}", where)
    statement = statement.replace("{order}", order)
    chunk = limit + 1 if decided else max(limit + 1, _LOOK)
    found: list[Job] = []
    seq, low = between
    while len(found) <= limit:
        rows = database.read_planned(statement, [*values, seq, low, chunk] * len(tables))[:chunk]
        jobs = map(job_of, rows)
        found += jobs if decided else (job for job in jobs if query.matches(job, now))
        if len(rows) < chunk:
            break
        seq = rows[-1][SEQ]
    more = str(found[limit - 1].seq) if len(found) > limit else None
    return Page(tuple(found[:limit]), more)


def _newest(database: Database, tables: Sequence[str], before: int) -> int:
    [(jobs, history)] = database.read("newest_before", {"before": before})
    return max(int({"jobs": jobs, "history": history}[table]) for table in tables)


def snapshot(database: Database) -> Snapshot:
    """The unfinished jobs counted, the finished ones from their counters, at one moment."""
    states: defaultdict[str, dict[State, int]] = defaultdict(dict)
    scheduled: dict[str, int] = {}
    since: dict[str, float] = {}
    paused: set[str] = set()
    at = 0.0
    for queue, state, n, not_due, ready_at in database.read("counts", {"now": database.given_now}):
        if queue is None:
            at = float(state)
        elif state == "queue":
            paused.add(queue)
        elif n:
            counts = states[queue]
            counts[STATES[state]] = counts.get(STATES[state], 0) + n
            scheduled[queue] = scheduled.get(queue, 0) + not_due
            if ready_at is not None:
                since[queue] = min(ready_at, since.get(queue, ready_at))
    return Snapshot(
        at,
        {
            queue: QueueCounts(
                queue,
                states[queue],
                scheduled.get(queue, 0),
                queue in paused,
                max(0.0, at - since[queue]) if queue in since else None,
            )
            for queue in sorted(paused | states.keys())
        },
    )


def _seq(after: str | None) -> int:
    if after is None:
        return _BEYOND
    if not (after.isascii() and after.isdecimal() and len(after) < 19):
        raise InvalidFilter(f"after={after!r} is not the `next` of a page")
    return int(after)
