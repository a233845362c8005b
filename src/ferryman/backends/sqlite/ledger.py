"""claim and pending: for a channel that carries the ids of jobs, and leaves the jobs here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ferryman.backends.sqlite.poll import paused_queues, promote, take
from ferryman.backends.sqlite.transaction import SQL
from ferryman.queue.ledger import Notice

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Mapping

    from ferryman.backends.sqlite.poll import Due
    from ferryman.backends.sqlite.transaction import Transaction


def claim(
    tx: Transaction,
    worker: str,
    ids: Mapping[str, Collection[str]],
    *,
    lease: float,
    turn: int,
    skip_tasks: Collection[str],
) -> list[Due]:
    """Claim those of the jobs that a poll of their queue could claim."""
    paused = paused_queues(tx.run("paused_queues"))
    values = {"now": tx.now, "skip_tasks": json.dumps(list(skip_tasks))}
    claimed: list[Due] = []
    for queue, wanted in ids.items():
        if queue not in paused:
            promote(tx, queue)
            few = {**values, "queue": queue, "ids": json.dumps(list(wanted))}
            due: list[Due] = tx.run("claimable", few).fetchall()
            take(tx, queue, due, worker=worker, lease=lease, turn=turn)
            claimed += due
    return claimed


def pending(connection: sqlite3.Connection, ids: Collection[str]) -> list[Notice]:
    """Those of the jobs that are pending."""
    rows = connection.execute(SQL["pending"], {"ids": json.dumps(list(ids))}).fetchall()
    return [Notice(*row) for row in rows]
