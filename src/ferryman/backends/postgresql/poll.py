"""poll: due jobs become claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.sql.rows import claim_order, job_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ferryman.backends.postgresql.connection import Database
    from ferryman.job import Job


def poll(
    database: Database,
    worker: str,
    queues: Mapping[str, int],
    *,
    lease: float,
    turn: int,
    skip_tasks: Collection[str],
) -> list[Job]:
    """Claim at most the given number from each queue."""
    wanted = [queue for queue, limit in queues.items() if limit > 0]
    if not wanted:
        return []
    rows = database.write(
        "poll",
        {
            "worker": worker,
            "queues": wanted,
            "limits": [queues[queue] for queue in wanted],
            "lease": lease,
            "turn": turn,
            "skip_tasks": list(skip_tasks),
            "now": database.given_now,
        },
    )
    # The database answers in an order of its own.
    return [job_of(row) for row in sorted(rows, key=claim_order)]
