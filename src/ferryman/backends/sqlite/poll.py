"""poll: due jobs become claims."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ferryman.backends.sql.rows import claim_order, job_of
from ferryman.backends.sqlite.counts import SCHEDULED
from ferryman.backends.sqlite.transaction import SQL
from ferryman.job import State

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Mapping

    from ferryman.backends.sqlite.transaction import Transaction
    from ferryman.job import Job


def poll(
    tx: Transaction,
    worker: str,
    queues: Mapping[str, int],
    *,
    lease: float,
    turn: int,
    skip_tasks: Collection[str],
) -> list[Job]:
    """Claim at most the given number from each queue."""
    paused = _paused(tx.run("paused_queues"))
    values = {
        "worker": worker,
        "turn": turn,
        "now": tx.now,
        "expires_at": tx.now + lease,
        "skip_tasks": json.dumps(list(skip_tasks)),
    }
    jobs: list[Job] = []
    for queue, limit in queues.items():
        if limit > 0 and queue not in paused:
            promote(tx, queue)
            rows = tx.run("poll", {**values, "queue": queue, "limit": limit}).fetchall()
            # RETURNING promises no order.
            rows.sort(key=claim_order)
            jobs += map(job_of, rows)
            tx.tally.move(queue, State.PENDING, State.PROCESSING, len(rows))
    return jobs


def promote(tx: Transaction, queue: str) -> None:
    """Let all scheduled jobs that are due join the ready ones, or priority would suffer."""
    promoted = tx.run("promote", {"queue": queue, "now": tx.now}).rowcount
    if promoted:
        tx.tally.add(queue, SCHEDULED, -promoted)


def claimable(
    connection: sqlite3.Connection, queues: Iterable[str], now: float
) -> tuple[set[str], float | None]:
    """The queues with a job to claim, and when else the next scheduled one is due.

    A read, so that idle workers neither take the write lock nor wake each other for nothing.
    """
    paused = _paused(connection.execute(SQL["paused_queues"]))
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


def _paused(rows: Iterable[tuple[str]]) -> set[str]:
    return {queue for (queue,) in rows}
