"""Words every event of the engine; the only place where log lines are written.

Payloads, results and tracebacks never appear: the job keeps them, a log file should not.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

from ferryman.events import ANY
from ferryman.job import Job, State
from ferryman.telemetry.lines import FIELDS, LOGGER, text_line
from ferryman.telemetry.outage import Outage
from ferryman.telemetry.redaction import redacted_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ferryman.clock import Clock
    from ferryman.events import Event, Events

WORKER: Final = f"{LOGGER}.worker"
JOBS: Final = f"{LOGGER}.jobs"
BACKEND: Final = f"{LOGGER}.backend"

MAX_ERROR: Final = 500
MAX_STACK: Final = 900


class EventLog:
    """Subscribes to all events of a Ferry and writes those worth a line to the standard loggers."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._outage = Outage(monotonic)
        self._started: dict[tuple[str, int], float] = {}
        self._words: Mapping[str, Callable[[Event], None]] = {
            "worker.started": self._worker_started,
            "worker.draining": self._worker_draining,
            "worker.stopped": self._worker_stopped,
            "worker.broken": self._worker_broken,
            "loop.blocked": self._loop_blocked,
            "loop.freed": self._loop_freed,
            "process.started": self._process_started,
            "process.ended": self._process_ended,
            "job.pushed": self._job_pushed,
            "job.started": self._job_started,
            "job.completed": self._job_ended(logging.INFO, "job completed"),
            "job.retried": self._job_ended(logging.WARNING, "job will be retried"),
            "job.returned": self._job_returned,
            "job.failed": self._job_ended(logging.ERROR, "job failed"),
            "job.cancelled": self._job_ended(logging.INFO, "job cancelled"),
            "job.paused": self._job_ended(logging.INFO, "job paused"),
            "job.lost": self._job_ended(logging.WARNING, "lease lost, nothing was recorded"),
            "job.stale": self._job_stale,
            "job.timed_out": self._job_timed_out,
            "job.reaped": self._job_reaped,
            "backend.unavailable": self._backend_unavailable,
            "backend.call": self._backend_called,
            "history.pruned": self._history_pruned,
            "queue.deep": self._queue_deep,
            "schedule.pushed": self._schedule_pushed,
            "schedule.unreadable": self._schedule_unreadable,
            "breaker.opened": self._breaker_opened,
            "breaker.closed": self._breaker_closed,
            "sync.passed": self._sync_passed,
            "sync.failed": self._sync_failed,
            "job.unsettled": self._job_unsettled,
        }

    @classmethod
    def follow(cls, events: Events, clock: Clock) -> Callable[[], None]:
        """Begin to write; returns the way to stop it."""
        return events.subscribe(ANY, cls(clock.monotonic))

    def __call__(self, event: Event) -> None:
        word = self._words.get(event.name)
        if word is not None:
            word(event)

    # -- worker

    def _worker_started(self, event: Event) -> None:
        fields = {"worker": event["worker"], "queues": event["queues"]}
        _log(WORKER, logging.INFO, event.name, "worker started", fields)

    def _worker_draining(self, event: Event) -> None:
        fields = {"worker": event["worker"], "running": event["running"]}
        _log(WORKER, logging.INFO, event.name, "worker is draining", fields)

    def _worker_stopped(self, event: Event) -> None:
        level = logging.INFO if event["error"] is None else logging.ERROR
        fields = {"worker": event["worker"], **_raised(event["error"])}
        _log(WORKER, level, event.name, "worker stopped", fields)

    def _worker_broken(self, event: Event) -> None:
        # A loop of `queue.poll` breaks without a worker around it.
        worker = event.facts.get("worker")
        fields = {"worker": worker, "loop": event["loop"], **_raised(event["error"])}
        _log(WORKER, logging.CRITICAL, event.name, "worker broke down and stops", fields)

    def _loop_blocked(self, event: Event) -> None:
        job: Job | None = event["job"]
        fields = {
            "where": event["where"],
            "seconds": round(event["seconds"], 1),
            "job_id": None if job is None else job.id,
            "task": None if job is None else job.task,
            "worker": event["worker"],
            # The inner frames are at the end, so the end is kept.
            "stack": event["stack"][-MAX_STACK:],
        }
        _log(WORKER, logging.WARNING, event.name, "a handler blocks the event loop", fields)

    def _loop_freed(self, event: Event) -> None:
        fields = {"seconds": round(event["seconds"], 1), "worker": event["worker"]}
        _log(WORKER, logging.INFO, event.name, "the event loop is free again", fields)

    def _process_started(self, event: Event) -> None:
        _log(WORKER, logging.DEBUG, event.name, "child process started", {"pid": event["pid"]})

    def _process_ended(self, event: Event) -> None:
        level = logging.WARNING if event["why"] == "crashed" else logging.DEBUG
        fields = {"pid": event["pid"], "why": event["why"], "code": event["code"]}
        _log(WORKER, level, event.name, "child process ended", fields)

    # -- jobs

    def _job_pushed(self, event: Event) -> None:
        message = event["message"]
        text = "job pushed" if event["created"] else "job was already there"
        fields = {
            "job_id": event["id"],
            "task": message.task,
            "queue": message.queue,
            "correlation_id": message.correlation_id,
        }
        _log(JOBS, logging.DEBUG, event.name, text, fields)

    def _job_started(self, event: Event) -> None:
        job: Job = event["job"]
        self._started[job.id, job.fence] = self._monotonic()
        _log(JOBS, logging.DEBUG, event.name, "job started", self._claim(event))

    def _job_ended(self, level: int, text: str) -> Callable[[Event], None]:
        def word(event: Event) -> None:
            fields = {**self._claim(event), **_reason(event), **self._seconds(event["job"])}
            _log(JOBS, level, event.name, text, fields)

        return word

    def _job_returned(self, event: Event) -> None:
        # Given back by drain or snooze is routine; a job that nobody here can run is not.
        level = logging.INFO if event["error"] is None else logging.WARNING
        self._job_ended(level, "job given back")(event)

    def _job_stale(self, event: Event) -> None:
        text = "a late end was refused, the lease is no longer this worker's"
        _log(JOBS, logging.DEBUG, event.name, text, self._claim(event))

    def _job_timed_out(self, event: Event) -> None:
        fields = {**self._claim(event), "timeout": event["seconds"]}
        _log(JOBS, logging.WARNING, event.name, "job ran over its timeout", fields)

    def _job_reaped(self, event: Event) -> None:
        reaped = event["reaped"]
        fields = {
            "job_id": reaped.id,
            "task": reaped.task,
            "queue": reaped.queue,
            "state": reaped.state,
            "held_by": reaped.worker,
            "worker": event["worker"],
        }
        if reaped.worker is None:
            _log(JOBS, logging.INFO, event.name, "job expired before it started", fields)
        else:
            level = logging.ERROR if reaped.state is State.FAILED else logging.WARNING
            _log(JOBS, level, event.name, "expired lease reaped", fields)

    def _claim(self, event: Event) -> dict[str, Any]:
        job: Job = event["job"]
        return {
            "job_id": job.id,
            "task": job.task,
            "queue": job.queue,
            "attempt": job.attempts,
            "max_attempts": job.max_attempts,
            "correlation_id": job.correlation_id,
            "worker": event["worker"],
        }

    def _seconds(self, job: Job) -> dict[str, float]:
        started = self._started.pop((job.id, job.fence), None)
        return {} if started is None else {"seconds": round(self._monotonic() - started, 3)}

    # -- store

    def _backend_unavailable(self, event: Event) -> None:
        if self._outage.begins():
            fields = {"loop": event["loop"], **_raised(event["error"])}
            _log(BACKEND, logging.WARNING, event.name, "store unavailable, trying again", fields)

    def _backend_called(self, event: Event) -> None:
        seconds = self._outage.called(event["verb"], event["error"])
        if seconds is not None:
            fields = {"verb": event["verb"], "seconds": round(seconds, 1)}
            _log(BACKEND, logging.INFO, "backend.recovered", "store available again", fields)

    def _job_unsettled(self, event: Event) -> None:
        facts = {"job_id": event["settlement"].job_id, **_raised(event["error"])}
        text = "the end of a job could not be stored, its lease will expire"
        _log(JOBS, logging.ERROR, event.name, text, facts)

    def _history_pruned(self, event: Event) -> None:
        _log(BACKEND, logging.INFO, event.name, "history pruned", {"count": event["count"]})

    def _queue_deep(self, event: Event) -> None:
        fields = {"queue": event["queue"], "warn_depth": event["warn_depth"]}
        _log(BACKEND, logging.WARNING, event.name, "a queue has become deep", fields)

    def _schedule_pushed(self, event: Event) -> None:
        fields = {"schedule": event["schedule"], "job_id": event["id"]}
        _log(WORKER, logging.INFO, event.name, "slot pushed", fields)

    def _schedule_unreadable(self, event: Event) -> None:
        fields = {"schedule": event["schedule"], **_raised(event["error"])}
        _log(WORKER, logging.WARNING, event.name, "schedule cannot be read here", fields)

    def _breaker_opened(self, event: Event) -> None:
        fields = {"breaker": event["breaker"], "failures": event["failures"]}
        problem = _bounded(event["problem"] or "")
        _log(JOBS, logging.WARNING, event.name, "breaker opened", {**fields, "error": problem})

    def _breaker_closed(self, event: Event) -> None:
        _log(JOBS, logging.INFO, event.name, "breaker closed", {"breaker": event["breaker"]})

    def _sync_passed(self, event: Event) -> None:
        _log(BACKEND, logging.DEBUG, event.name, "synced", dict(event.facts))

    def _sync_failed(self, event: Event) -> None:
        fields = {"failures": event["failures"], **_raised(event["error"])}
        _log(BACKEND, logging.WARNING, event.name, "sync failed, trying again", fields)


def _log(logger_name: str, level: int, name: str, text: str, fields: Mapping[str, Any]) -> None:
    logger = logging.getLogger(logger_name)
    if not logger.isEnabledFor(level):
        return
    known = {field: _shown(value) for field, value in fields.items() if value is not None}
    extra = {FIELDS: {"event": name, "text": text, **known}}
    logger.log(level, "%s", text_line(text, known), extra=extra)


def _reason(event: Event) -> dict[str, Any]:
    """Why a claim ended, and for a job that waits again, in how many seconds it is ready."""
    error, delay = event.facts.get("error"), event.facts.get("delay")
    waits = event.facts.get("state") is State.PENDING
    return {
        "error": None if error is None else _bounded(error.text),
        "delay": round(delay, 3) if waits and delay is not None else None,
    }


def _raised(error: BaseException | None) -> dict[str, Any]:
    if error is None:
        return {}
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return {"error": _bounded(text)}


def _shown(value: Any) -> Any:
    return redacted_text(value) if isinstance(value, str) else value


def _bounded(text: str) -> str:
    # Before it is cut: half a name no longer tells that a secret follows.
    masked = redacted_text(text)
    return masked if len(masked) <= MAX_ERROR else masked[: MAX_ERROR - 1] + "…"
