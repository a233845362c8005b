"""Jobs, queues and workers as plain JSON for people and scripts: the one place of these shapes.

Times are ISO 8601 in UTC with a Z, None is null, secrets are hidden. The keys are stable: new ones
may come, none changes its meaning.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ferryman.job import State
from ferryman.queue.open import safe_url
from ferryman.service.redaction import redacted
from ferryman.telemetry.escape import without_credentials
from ferryman.worker.rollup import OUTCOMES, STEP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.flow.timetable import Entry
    from ferryman.job import Job, JobError, LogLine
    from ferryman.queue.answers import Acted, Page, QueueCounts
    from ferryman.queue.diagnosis import Finding, Trouble
    from ferryman.service.control import Bulk
    from ferryman.service.history import Bucket
    from ferryman.service.insights import Overview
    from ferryman.service.limits import BreakerRow, PermitRow, RateRow
    from ferryman.service.move import Carried
    from ferryman.service.runs import RunRow, WholeRun
    from ferryman.service.settings import Setting
    from ferryman.service.ticker import Tick
    from ferryman.service.workers import WorkerRow
    from ferryman.worker.histogram import Histogram

UNREADABLE = "(not JSON)"


def moment(seconds: float | None) -> str | None:
    """Seconds since the epoch as `2027-01-15T08:00:00.000Z`."""
    if seconds is None:
        return None
    text = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def job_summary(job: Job) -> dict[str, Any]:
    """A job as lists show it: everything but its errors and logs."""
    return {
        "id": job.id,
        "queue": job.queue,
        "task": job.task,
        "state": str(job.state),
        "priority": job.priority,
        "attempts": job.attempts,
        "max_attempts": job.max_attempts,
        "created_at": moment(job.created_at),
        "ready_at": moment(job.ready_at),
        "started_at": moment(job.started_at),
        "finished_at": moment(job.finished_at),
        "deadline": moment(job.deadline),
        "asked": job.asked,
        "percent": job.percent,
        "note": _text(job.note),
        "error": _text(job.error),
        "key": job.key,
        "correlation_id": job.correlation_id,
        "tenant": job.tenant,
        "meta": redacted(dict(job.meta)),
        "payload": _decoded(job.body),
        "result": _decoded(job.result),
        "checkpoint": _decoded(job.stored_checkpoint),
        "version": job.version,
        "generation": job.generation,
        "given_back": job.given_back,
        "fence": job.fence,
        "worker": job.worker,
        "heartbeat_at": moment(job.heartbeat_at),
        "expires_at": moment(job.expires_at),
        "timeout": job.timeout,
        "backoff": job.backoff,
    }


def job_whole(job: Job) -> dict[str, Any]:
    """A job with its history."""
    return {
        **job_summary(job),
        "errors": [_error(error) for error in job.errors],
        "logs": [_log(line) for line in job.logs],
    }


def page(found: Page) -> dict[str, Any]:
    return {"jobs": [job_summary(job) for job in found.jobs], "next": found.next}


def queue(counts: QueueCounts) -> dict[str, Any]:
    """`paused` is the queue's own; `ready` and `scheduled` make up its pending jobs.

    `oldest_ready`: seconds for which the oldest ready job has been due, null if none is or unknown.
    """
    return {
        "queue": counts.queue,
        "paused": counts.paused,
        "ready": counts.ready,
        "scheduled": counts.scheduled,
        "oldest_ready": counts.oldest_ready,
        "states": {str(state): counts.states.get(state, 0) for state in State},
    }


def schedule(entry: Entry, now: float) -> dict[str, Any]:
    """`last` is the latest slot that is settled, `next` the one to come, null while paused."""
    what = entry.schedule
    return {
        "schedule": what.name,
        "paused": entry.paused,
        "cron": what.slots.cron,
        "every": what.slots.every,
        "tz": what.slots.tz,
        "missed": what.missed,
        "task": what.message.task,
        "queue": what.message.queue,
        "payload": _decoded(what.message.body),
        "last": moment(entry.last),
        "next": moment(entry.next(now)),
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
    }


def breaker(row: BreakerRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "state": str(row.phase),
        "failures": row.failures,
        "probes": row.probes,
        "until": moment(row.until),
        "changed_at": moment(row.changed_at),
        "problem": _text(row.problem),
    }


def rate(row: RateRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "quota": row.quota,
        "zone": row.zone,
        "spent": row.spent,
        "left": row.left,
        "free_at": moment(row.free_at),
    }


def permit(row: PermitRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "limit": row.limit,
        "live": sum(row.holders.values()),
        "holders": dict(row.holders),
    }


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


def trouble(one: Trouble) -> dict[str, Any]:
    """Something that was set aside because it could not be used."""
    return {"queue": one.queue, "path": one.path, "reason": one.reason, "at": moment(one.at)}


def acted(answers: Sequence[Acted]) -> dict[str, Any]:
    """An act on jobs by their ids."""
    refused = sum(one.refused is not None for one in answers)
    return {
        "matched": len(answers),
        "done": len(answers) - refused,
        "refused": refused,
        "jobs": [
            {
                "id": one.id,
                "state": None if one.state is None else str(one.state),
                "refused": one.refused,
            }
            for one in answers
        ],
    }


def bulk(counts: Bulk) -> dict[str, int]:
    """An act on everything that matched a filter."""
    return {"matched": counts.matched, "done": counts.done, "refused": counts.refused}


def carried(done: str, end: Carried) -> dict[str, Any]:
    """A move or a copy; `done` (moved, exported, imported) names the count."""
    left = [{"id": one.id, "queue": one.queue, "why": one.why} for one in end.left]
    return {done: end.carried, "existing": end.existing, "left": left}


def tick(one: Tick) -> dict[str, Any]:
    """`overview` with rates and failures; during an outage as last seen, null if never."""
    seen: dict[str, Any] = {"at": None, "queues": None} if one.seen is None else overview(one.seen)
    for counts in seen["queues"] or ():
        counts["rate"] = one.rates.get(counts["queue"])
    return {
        **seen,
        "rate": one.rate,
        "failures": [_failure(job) for job in one.failures],
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


def _failure(job: Job) -> dict[str, Any]:
    return {
        "id": job.id,
        "queue": job.queue,
        "task": job.task,
        "finished_at": moment(job.finished_at),
        "error": _text(job.error),
    }


def _error(error: JobError) -> dict[str, Any]:
    return {
        "attempt": error.attempt,
        "at": moment(error.at),
        "worker": error.worker,
        "kind": error.kind,
        "text": _text(error.text),
        "traceback": _text(error.traceback),
    }


def _log(line: LogLine) -> dict[str, Any]:
    return {"at": moment(line.at), "text": _text(line.text)}


def _text(text: str | None) -> str | None:
    return None if text is None else without_credentials(text)


def _decoded(text: str | None) -> Any:
    if text is None:
        return None
    try:
        return redacted(json.loads(text))
    except ValueError:
        return UNREADABLE


def run_row(row: RunRow) -> dict[str, Any]:
    """A run as lists show it."""
    return {
        "run": row.id,
        "pipeline": row.pipeline,
        "state": row.state,
        "started_at": moment(row.started_at),
    }


def run_whole(whole: WholeRun) -> dict[str, Any]:
    """A run with the jobs of each stage by state."""
    return {
        "run": whole.id,
        "pipeline": whole.pipeline,
        "state": whole.progress.state,
        "stages": [
            {"stage": stage, **{str(state): counts.get(state, 0) for state in State}}
            for stage, counts in whole.progress.stages.items()
        ],
    }


def history(buckets: Sequence[Bucket]) -> dict[str, Any]:
    """What was ended in each `step` seconds; times are seconds, null where nothing ended."""
    return {"step": STEP, "buckets": [_bucket(bucket) for bucket in buckets]}


def _bucket(bucket: Bucket) -> dict[str, Any]:
    ended = bucket.ended
    return {
        "at": moment(bucket.at),
        **{outcome: ended.counts[outcome] for outcome in OUTCOMES},
        "wait": _quantiles(ended.wait),
        "run": _quantiles(ended.run),
    }


def _quantiles(times: Histogram) -> dict[str, float | None]:
    found = {f"p{percent}": times.quantile(percent / 100) for percent in (50, 95, 99)}
    return {name: None if value is None else round(value, 4) for name, value in found.items()}
