"""Jobs, queues and workers as tables for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferryman.cli.output import put_table, table_lines
from ferryman.flow.schedule import iso
from ferryman.job import Job, State
from ferryman.service.presentation import job_summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.flow.timetable import Entry
    from ferryman.queue.answers import QueueCounts
    from ferryman.service.api_keys import ApiKey
    from ferryman.service.workers import WorkerRow

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"))


def job_table(jobs: Sequence[Job], now: float) -> None:
    put_table(
        ("ID", "STATE", "QUEUE", "TASK", "ATTEMPTS", "AGE", "NEWS"),
        [
            (
                job.id,
                job.state,
                job.queue,
                job.task,
                f"{job.attempts}/{job.max_attempts}",
                span(now - job.created_at),
                _news(job, now),
            )
            for job in jobs
        ],
    )


def queue_table(queues: Sequence[QueueCounts]) -> None:
    shown = (State.PROCESSING, State.PAUSED, State.FAILED, State.CANCELLED, State.COMPLETED)
    put_table(
        ("QUEUE", "", "READY", "SCHEDULED", *(state.upper() for state in shown)),
        [
            (
                counts.queue,
                "paused" if counts.paused else "",
                counts.ready,
                counts.scheduled,
                *(counts.states.get(state, 0) for state in shown),
            )
            for counts in queues
        ],
    )


def schedule_table(entries: Sequence[Entry], now: float) -> None:
    put_table(
        ("SCHEDULE", "", "WHEN", "MISSED", "TASK", "QUEUE", "LAST", "NEXT"),
        [
            (
                entry.schedule.name,
                "paused" if entry.paused else "",
                str(entry.schedule.slots),
                entry.schedule.missed,
                entry.schedule.message.task,
                entry.schedule.message.queue,
                iso(entry.last),
                "" if (slot := entry.next(now)) is None else iso(slot),
            )
            for entry in entries
        ],
    )


def worker_table(workers: Sequence[WorkerRow], now: float) -> None:
    put_table(
        ("WORKER", "", "RUNNING", "UP", "SEEN", "QUEUES"),
        [
            (
                row.id,
                "stale" if row.stale else "",
                row.running,
                _since(row.started_at, now),
                _since(row.heartbeat_at, now),
                _slots(row),
            )
            for row in workers
        ],
    )


def worker_lines(workers: Sequence[WorkerRow], now: float) -> list[str]:
    """Workers by host and process, as `workers` and `top` show them."""
    return table_lines(
        ("HOST", "PID", "", "RUNNING", "SLOTS", "UP", "SEEN", "VERSION", "QUEUES"),
        [
            (
                row.host or row.id,
                row.pid,
                "stale" if row.stale else "",
                row.running,
                sum(row.queues.values()),
                _since(row.started_at, now),
                _since(row.heartbeat_at, now),
                row.version,
                _slots(row),
            )
            for row in workers
        ],
    )


def key_table(keys: Sequence[tuple[ApiKey, int | None]], now: float) -> None:
    """Keys, each with how many jobs it may push now."""
    put_table(
        ("ID", "NAME", "ROLE", "QUEUES", "AGE", "LAST USED", "EXPIRES IN", "RATE", "PUSHES"),
        [
            (
                key.id,
                key.name,
                key.role,
                "all" if key.queues is None else ",".join(key.queues),
                span(now - key.created_at),
                "never" if key.used_at is None else f"{span(now - key.used_at)} ago",
                "" if key.expires_at is None else span(key.expires_at - now),
                "" if key.rate is None else str(key.rate),
                "" if key.pushes is None else f"{key.pushes}, {left} left",
            )
            for key, left in keys
        ],
    )


def span(seconds: float) -> str:
    """A duration to one figure that people grasp: 5s, 3m, 2h, 4d."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds // size:.0f}{unit}"
    return f"{max(0.0, seconds):.0f}s"


def _slots(row: WorkerRow) -> str:
    return ",".join(f"{queue}:{slots}" for queue, slots in row.queues.items())


def _since(moment: float | None, now: float) -> str:
    return "?" if moment is None else span(now - moment)


def _news(job: Job, now: float) -> str:
    shown = job_summary(job)
    if job.state is State.PENDING and job.ready_at > now:
        return " ".join(filter(None, [f"due in {span(job.ready_at - now)}", _first_line(shown)]))
    if job.state is State.PROCESSING:
        asked = "" if job.asked is None else f"asked to {job.asked}"
        percent = "" if job.percent is None else f"{job.percent:g}%"
        return " ".join(filter(None, [asked, percent, shown["note"]]))
    return "" if job.state is State.COMPLETED else _first_line(shown)


def _first_line(shown: dict[str, Any]) -> str:
    lines = (shown["error"] or "").strip().splitlines()
    return lines[0] if lines else ""
