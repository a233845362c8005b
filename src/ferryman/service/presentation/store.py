"""A store as a whole: its queues, its workers, what was found wrong with it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ferryman.job import State
from ferryman.queue.open import safe_url
from ferryman.service.presentation.jobs import failure
from ferryman.service.presentation.values import moment
from ferryman.service.redaction import redacted

if TYPE_CHECKING:
    from ferryman.queue.answers import QueueCounts
    from ferryman.queue.diagnosis import Finding, Trouble
    from ferryman.service.insights import Overview
    from ferryman.service.scale import Scale
    from ferryman.service.settings import Setting
    from ferryman.service.ticker import Tick
    from ferryman.service.why import Reason
    from ferryman.service.workers import WorkerRow


def overview(seen: Overview) -> dict[str, Any]:
    """`workers` is null where the backend keeps no rows about them."""
    return {
        "at": moment(seen.at),
        "backend": seen.backend,
        "states": {str(state): count for state, count in seen.totals.items()},
        "scheduled": seen.scheduled,
        "queues": [queue(counts) for counts in seen.queues],
        "workers": None if seen.workers is None else [worker(row) for row in seen.workers],
        "set_aside": [trouble(one) for one in seen.troubles],
    }


def queue(counts: QueueCounts) -> dict[str, Any]:
    """`paused` is the queue's own; `ready` and `scheduled` make up its pending jobs.

    `oldest_ready`: whole seconds for which the oldest ready job has been due, null if none is, or
    if the store cannot tell.
    """
    oldest = counts.oldest_ready
    return {
        "queue": counts.queue,
        "paused": counts.paused,
        "ready": counts.ready,
        "scheduled": counts.scheduled,
        "oldest_ready": None if oldest is None else int(oldest),
        "states": {str(state): counts.states.get(state, 0) for state in State},
    }


def worker(row: WorkerRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "stale": row.stale,
        "host": row.host,
        "pid": row.pid,
        "version": row.version,
        "queues": dict(row.queues),
        "running": row.running,
        "started_at": moment(row.started_at),
        "heartbeat_at": moment(row.heartbeat_at),
        "lease": row.lease,
        "skew": row.skew,
        "hears": row.hears,
    }


def trouble(one: Trouble) -> dict[str, Any]:
    """Something that was set aside because it could not be used."""
    return {"queue": one.queue, "path": one.path, "reason": one.reason, "at": moment(one.at)}


def tick(one: Tick) -> dict[str, Any]:
    """`overview` with rates and failures; during an outage as last seen, null if never."""
    seen: dict[str, Any] = {"at": None, "queues": None} if one.seen is None else overview(one.seen)
    for counts in seen["queues"] or ():
        counts["rate"] = one.rates.get(counts["queue"])
    return {
        **seen,
        "rate": one.rate,
        "failures": [failure(job) for job in one.failures],
        "outage": one.outage,
    }


def finding(found: Finding) -> dict[str, str]:
    """`severity` is ok, warning or problem; `fix` is empty when all is well."""
    return {
        "check": found.check,
        "severity": str(found.severity),
        "what": found.what,
        "fix": found.fix,
    }


def setting(one: Setting) -> dict[str, Any]:
    """Durations are seconds; null is the app's to say."""
    return {
        "name": one.name,
        "value": redacted(safe_url(one.value) if one.name == "url" else one.value),
        "origin": one.origin,
        "variable": one.variable,
    }


def reason(one: Reason) -> dict[str, str]:
    """What holds the jobs of a queue back, and what to do."""
    return {"reason": one.reason, "text": one.text, "fix": one.fix}


def scale(one: Scale) -> dict[str, Any]:
    """`wanted` workers of `slots` slots each."""
    return asdict(one)
