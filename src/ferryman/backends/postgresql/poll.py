"""poll: due jobs become claims."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ferryman.backends.sql.rows import job_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ferryman.backends.postgresql.connection import Database
    from ferryman.backends.postgresql.floors import Floors
    from ferryman.job import Job


def poll(
    database: Database,
    floors: Floors,
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
    values = {
        "worker": worker,
        "queues": wanted,
        "limits": [queues[queue] for queue in wanted],
        "floors": floors.of(wanted, skip_tasks),
        "lease": lease,
        "turn": turn,
        "skip_tasks": list(skip_tasks),
        "now": database.given_now,
    }
    started = time.monotonic()
    rows = database.write("poll", values)
    if not rows and floors.lift():
        rows = database.write("poll", values | {"floors": floors.of(wanted, skip_tasks)})
    jobs = [job_of(row) for row in rows]
    floors.learn(jobs, time.monotonic() - started, queues, skip_tasks)
    return jobs
