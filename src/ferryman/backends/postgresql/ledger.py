"""claim and pending: for a channel that carries the ids of jobs, and leaves the jobs here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.sql.rows import job_of
from ferryman.queue.ledger import Notice

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ferryman.backends.postgresql.connection import Database
    from ferryman.backends.postgresql.transaction import Transaction
    from ferryman.job import Job


def claim(
    tx: Transaction,
    worker: str,
    ids: Mapping[str, Collection[str]],
    *,
    lease: float,
    turn: int,
    skip_tasks: Collection[str],
) -> list[Job]:
    """Claim those of the jobs that a poll of their queue could claim."""
    terms = {"worker": worker, "lease": lease, "turn": turn, "skip_tasks": list(skip_tasks)}
    # In one order, and before the claims look: what is paused by then is seen to be.
    for queue in sorted(ids):
        tx.run("share_queue", {"queue": queue})
    return [
        job_of(row)
        for queue, wanted in ids.items()
        for row in tx.rows(
            "claim_named", {**terms, "queue": queue, "ids": list(wanted), "now": tx.now}
        )
    ]


def pending(database: Database, ids: Collection[str]) -> list[Notice]:
    """Those of the jobs that are pending."""
    return [Notice(*row) for row in database.read("pending", {"ids": list(ids)})]
