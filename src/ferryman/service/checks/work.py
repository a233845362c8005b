"""Is there a worker for everything that waits?"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from ferryman.queue.diagnosis import Finding
from ferryman.service.checks.chart import counted, named, span

if TYPE_CHECKING:
    from ferryman.service.checks.chart import Chart

# Every worker reaps every five seconds; what is older than this, nobody looks at.
UNREAPED: Final = 30.0


def workers(chart: Chart) -> Finding | None:
    """Somebody must be there if jobs are ready."""
    if chart.seen.workers is None:
        return None
    if chart.alive:
        slots = sum(sum(row.queues.values()) for row in chart.alive)
        running = sum(row.running or 0 for row in chart.alive)
        alive = counted(len(chart.alive), "worker")
        return Finding.ok("workers", f"{alive} alive, {running} of {slots} slots busy")
    ready = sum(queue.ready for queue in chart.seen.queues if not queue.paused)
    start = "start one: ferryman work module:attribute"
    if ready:
        return Finding.problem("workers", f"no worker runs, {counted(ready, 'job')} ready", start)
    if chart.seen.scheduled:
        scheduled = counted(chart.seen.scheduled, "job")
        return Finding.warning("workers", f"no worker runs, {scheduled} scheduled", start)
    return Finding.ok("workers", "none runs, and nothing waits")


def stale(chart: Chart) -> Finding | None:
    """Workers that missed three of their own updates."""
    rows = [row for row in chart.seen.workers or () if row.stale]
    if not rows:
        return None
    oldest = min(row.heartbeat_at or chart.seen.at for row in rows)
    return Finding.warning(
        "stale workers",
        f"{named([row.id for row in rows])} last seen up to {span(chart.seen.at - oldest)} ago: "
        "dead, frozen or cut off",
        "look at their processes and logs; their jobs return when the leases expire, and the rows "
        "go away by themselves",
    )


def queues(chart: Chart) -> Finding | None:
    """Every queue with ready jobs is served by a worker that lives."""
    if not chart.alive:
        return None
    served = {queue for row in chart.alive for queue in row.queues}
    waiting = {queue.queue: queue.ready for queue in chart.seen.queues if not queue.paused}
    alone = {name: ready for name, ready in waiting.items() if ready and name not in served}
    if not alone:
        return Finding.ok("queues", "every queue with ready jobs has a worker")
    return Finding.problem(
        "queues",
        f"no worker serves {named(alone)}, {counted(sum(alone.values()), 'job')} ready",
        f"ferryman work module:attribute --queues {shlex.quote(','.join(sorted(alone)[:5]))}",
    )


def paused(chart: Chart) -> Finding | None:
    """Queues that somebody stopped and may have forgotten."""
    stopped = {queue.queue: queue.ready for queue in chart.seen.queues if queue.paused}
    if not stopped:
        return None
    return Finding.warning(
        "paused queues",
        f"{named(stopped)} paused, {counted(sum(stopped.values()), 'job')} ready",
        f"ferryman queues resume {shlex.quote(min(stopped))}",
    )


def leases(chart: Chart) -> Finding | None:
    """Claims past their time go back to their queue, if anybody reaps."""
    if not chart.backend.capabilities.browse:
        return None
    now = chart.insights.now()
    held = [job for jobs in chart.insights.walk("state:processing") for job in jobs]
    late = [now - job.expires_at for job in held if job.expires_at is not None]
    overdue = [seconds for seconds in late if seconds > UNREAPED]
    if not overdue:
        return Finding.ok("leases", f"{counted(len(held), 'claim')}, none past its time")
    return Finding.problem(
        "leases",
        f"{counted(len(overdue), 'claim')} up to {span(max(overdue))} past the lease, and nobody "
        "returns them",
        "start a worker: each one reaps, whatever its queues",
    )
