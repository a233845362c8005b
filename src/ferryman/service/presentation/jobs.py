"""Jobs, pages of them, and what acts on them came to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferryman.job import State
from ferryman.service.presentation.values import moment, shown_json, shown_text
from ferryman.service.redaction import redacted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.job import Job, JobError, LogLine
    from ferryman.queue.answers import Acted, Page, Pushed
    from ferryman.service.control import Bulk
    from ferryman.service.failures import Failures
    from ferryman.service.move import Carried
    from ferryman.service.search import Counted, Found


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
        "note": shown_text(job.note),
        "error": shown_text(job.error),
        "key": job.key,
        "correlation_id": job.correlation_id,
        "tenant": job.tenant,
        "meta": redacted(dict(job.meta)),
        "payload": shown_json(job.body),
        "result": shown_json(job.result),
        "checkpoint": shown_json(job.stored_checkpoint),
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


def found(jobs: Found) -> dict[str, Any]:
    """Jobs of a bounded search; `scanned` is null where the store looked by itself."""
    return {
        "jobs": [job_summary(job) for job in jobs.jobs],
        "next": jobs.next,
        "scanned": jobs.scanned,
        "complete": jobs.complete,
    }


def counted(counts: Counted) -> dict[str, Any]:
    """Jobs by state; `more` where they are at least so many."""
    states = {str(state): counts.states.get(state, 0) for state in State}
    return {"states": states, "more": counts.more}


def progress(job: Job) -> dict[str, Any]:
    """How far a job is."""
    return {
        "id": job.id,
        "state": str(job.state),
        "percent": job.percent,
        "note": shown_text(job.note),
        "attempts": job.attempts,
        "heartbeat_at": moment(job.heartbeat_at),
        "finished_at": moment(job.finished_at),
    }


def result(job: Job) -> dict[str, Any]:
    """What a job came to; `result` is null until it completed."""
    return {
        "id": job.id,
        "state": str(job.state),
        "result": shown_json(job.result),
        "error": shown_text(job.error),
    }


def logs(job: Job) -> dict[str, Any]:
    """The lines that a job's handler wrote."""
    return {"id": job.id, "logs": [_log(line) for line in job.logs]}


def page(found: Page) -> dict[str, Any]:
    return {"jobs": [job_summary(job) for job in found.jobs], "next": found.next}


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


def failure(job: Job) -> dict[str, Any]:
    return {
        "id": job.id,
        "queue": job.queue,
        "task": job.task,
        "finished_at": moment(job.finished_at),
        "error": shown_text(job.error),
    }


def _error(error: JobError) -> dict[str, Any]:
    return {
        "attempt": error.attempt,
        "at": moment(error.at),
        "worker": error.worker,
        "kind": error.kind,
        "text": shown_text(error.text),
        "traceback": shown_text(error.traceback),
    }


def _log(line: LogLine) -> dict[str, Any]:
    return {"at": moment(line.at), "text": shown_text(line.text)}


def failures(found: Failures) -> dict[str, Any]:
    """Failed jobs by what went wrong; `where` is a filter that finds those of a group."""
    return {
        "groups": [
            {
                "fingerprint": group.fingerprint,
                "task": group.task,
                "kind": group.kind,
                "text": shown_text(group.text),
                "count": group.count,
                "queues": sorted(group.queues),
                "first_at": moment(group.first_at),
                "last_at": moment(group.last_at),
                "sample": group.sample,
                "where": group.where,
            }
            for group in found.groups
        ],
        "scanned": found.scanned,
        "complete": found.complete,
    }


def pushed(one: Pushed) -> dict[str, str]:
    """What became of a message: created, or existing."""
    return {"id": one.id, "status": one.status}
