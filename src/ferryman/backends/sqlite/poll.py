"""poll: due jobs become claims."""

from __future__ import annotations

import json
from heapq import merge
from itertools import count, islice
from math import ceil
from typing import TYPE_CHECKING, Any, TypeAlias

from ferryman.backends.sql.rows import job_of
from ferryman.backends.sqlite.counts import SCHEDULED
from ferryman.backends.sqlite.transaction import SQL
from ferryman.backends.sqlite.turns import give_turns
from ferryman.job import State

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from ferryman.backends.sqlite.transaction import Transaction
    from ferryman.job import Job

Due: TypeAlias = tuple[int, int, float, int, int]
"""A job that may be claimed: priority, turn of its tenant, ready_at, seq, its fence so far."""


def poll(
    tx: Transaction,
    worker: str,
    queues: Mapping[str, int],
    *,
    lease: float,
    turn: int,
    skip_tasks: Collection[str],
) -> list[Due]:
    """Claim at most the given number from each queue, in order."""
    paused = paused_queues(tx.run("paused_queues"))
    claimed: list[Due] = []
    for queue, limit in queues.items():
        if limit > 0 and queue not in paused:
            promote(tx, queue)
            tasks = _ready_tasks(tx, queue).difference(skip_tasks)
            due = _first(tx, tasks, limit, {"now": tx.now, "queue": queue})
            take(tx, queue, due, worker=worker, lease=lease, turn=turn)
            claimed += due
    return claimed


def take(
    tx: Transaction, queue: str, due: Sequence[Due], *, worker: str, lease: float, turn: int
) -> None:
    """Make claims of jobs that this transaction has found to be ready."""
    if due:
        values = {"worker": worker, "turn": turn, "now": tx.now, "expires_at": tx.now + lease}
        tx.run("lease", {**values, "seqs": _seqs(due)})
        tx.tally.move(queue, State.PENDING, State.PROCESSING, len(due))
        if turns := {priority: tenant_turn for priority, tenant_turn, *_ in due if tenant_turn}:
            tx.run_many("claim_turn", [(queue, *each) for each in turns.items()])


def read_claimed(connection: sqlite3.Connection, worker: str, claimed: Sequence[Due]) -> list[Job]:
    """The jobs of claims just made, in their order.

    They are read after the commit, when nobody waits for the lock any more. A claim that has ended
    by then is nobody's loss: it is not answered.
    """
    values = {"worker": worker, "seqs": _seqs(claimed)}
    jobs = [job_of(row) for row in connection.execute(SQL["claimed"], values).fetchall()]
    found = {(job.seq, job.fence): job for job in jobs}
    ours = (found.get((seq, fence + 1)) for *_, seq, fence in claimed)
    return [job for job in ours if job is not None]


def _seqs(due: Sequence[Due]) -> str:
    return json.dumps([seq for *_, seq, _ in due])


def _ready_tasks(tx: Transaction, queue: str) -> set[str]:
    return {task for (task,) in tx.run("ready_tasks", {"queue": queue}).fetchall()}


def _first(tx: Transaction, tasks: set[str], limit: int, values: Mapping[str, Any]) -> list[Due]:
    """The first ready jobs of the tasks.

    The index is ordered within each task, so that a task to skip costs nothing however many of its
    jobs wait. Several tasks are merged, each read a little at a time.
    """
    chunk = ceil(limit / max(1, len(tasks)))
    ready = [_ready(tx, chunk, {**values, "task": task}) for task in tasks]
    if len(ready) == 1:
        return list(islice(ready[0], limit))
    return list(islice(merge(*ready, key=_order), limit))


def _order(due: Due) -> tuple[int, int, float, int]:
    priority, tenant_turn, ready_at, seq, _ = due
    return -priority, tenant_turn, ready_at, seq


def _ready(tx: Transaction, chunk: int, values: Mapping[str, Any]) -> Iterator[Due]:
    for offset in count(0, chunk):
        rows = tx.run("poll", {**values, "limit": chunk, "offset": offset}).fetchall()
        yield from rows
        if len(rows) < chunk:
            return


def promote(tx: Transaction, queue: str) -> None:
    """Let all scheduled jobs that are due join the ready ones, or priority would suffer."""
    promoted = tx.run("promote", {"queue": queue, "now": tx.now}).rowcount
    if promoted:
        tx.tally.add(queue, SCHEDULED, -promoted)
        give_turns(tx, queue)


def claimable(
    connection: sqlite3.Connection, queues: Iterable[str], now: float
) -> tuple[set[str], float | None]:
    """The queues with a job to claim, and when else the next scheduled one is due.

    A read, so that idle workers neither take the write lock nor wake each other for nothing.
    """
    paused = paused_queues(connection.execute(SQL["paused_queues"]))
    found: set[str] = set()
    due: list[float] = []
    for queue in queues:
        if queue in paused:
            continue
        ready, ready_at = connection.execute(SQL["ahead"], {"queue": queue, "now": now}).fetchone()
        if ready or (ready_at is not None and ready_at <= now):
            found.add(queue)
        elif ready_at is not None:
            due.append(ready_at)
    return found, min(due, default=None)


def paused_queues(rows: Iterable[tuple[str]]) -> set[str]:
    """The queues that nobody may claim from, from the statement of that name."""
    return {queue for (queue,) in rows}
