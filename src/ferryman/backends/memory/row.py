"""A job inside the store: mutable here, a frozen `Job` to everyone outside."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from ferryman.frozen import copier
from ferryman.job import Job, State
from ferryman.lifecycle import MAX_LOG_LINES
from ferryman.queue.arrival import as_message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.memory.heaps import Entry, Heap
    from ferryman.job import Ask, JobError, LogLine
    from ferryman.lifecycle import Verdict
    from ferryman.message import Message

PENDING, PROCESSING = State.PENDING, State.PROCESSING


class Row:
    """A message and what became of it, and where the indexes of the store hold it."""

    __slots__ = (
        *("id", "message", "seq", "state", "attempts", "fence", "generation", "given_back"),
        *("created_at", "ready_at", "deadline", "started_at", "finished_at"),
        *("worker", "turn", "heartbeat_at", "expires_at", "asked"),
        *("last_end", "last_fence", "last_worker"),
        *("meta", "percent", "note", "stored_checkpoint", "result", "error", "errors", "logs"),
        *("heap", "place", "alarm", "tenant_turn"),
    )

    def __init__(self, message: Message, seq: int, now: float) -> None:
        self.id = message.id
        self.seq = seq
        self.state: State = PENDING
        self.attempts = self.fence = self.last_fence = self.given_back = self.turn = 0
        self.generation = 1
        self.created_at = now
        self.started_at: float | None
        self.finished_at: float | None
        self.started_at = self.finished_at = None
        self.worker: str | None
        self.heartbeat_at: float | None
        self.expires_at: float | None
        self.asked: Ask | None
        self.worker = self.heartbeat_at = self.expires_at = self.asked = None
        self.last_end: Verdict | None
        self.last_worker: str | None
        self.last_end = self.last_worker = None
        self.percent: float | None
        self.note: str | None
        self.stored_checkpoint: str | None
        self.result: str | None
        self.percent = self.note = self.stored_checkpoint = self.result = None
        self.error: str | None
        self.errors: list[JobError] | None
        self.logs: deque[LogLine] | None
        self.error = self.errors = self.logs = None
        self.heap: Heap | None
        self.place: Entry | None
        self.alarm: Entry | None
        self.heap = self.place = self.alarm = None
        self.tenant_turn = 0
        self.adopt(message, now)

    @classmethod
    def of(cls, job: Job, seq: int) -> Row:
        """The row of a whole job that another store gave."""
        row = cls(as_message(job), seq, job.created_at)
        for name in _RECORDED:
            setattr(row, name, getattr(job, name))
        row.errors = [*job.errors] or None
        row.logs = deque(job.logs, MAX_LOG_LINES) if job.logs else None
        return row

    def adopt(self, message: Message, now: float) -> None:
        """Take over the body and options of a message; what has happened so far stays."""
        self.message = message
        self.ready_at = now + message.delay if message.ready_at is None else message.ready_at
        self.deadline = None if message.expires is None else now + message.expires
        # A message's own is the caller's, who may change it.
        self.meta = dict(message.meta) if message.meta else None

    def start_anew(self) -> None:
        """Forget what earlier attempts did: the row holds other work now."""
        self.attempts = self.given_back = 0
        self.percent = self.note = self.stored_checkpoint = None

    def claimed_as(self, fence: int, worker: str) -> bool:
        """Whether this is the job's current claim."""
        return self.fence == fence and self.state is PROCESSING and self.worker == worker

    def ended_as(self, fence: int, worker: str, verdict: Verdict) -> bool:
        """Whether this is how the job's latest claim that ended did so."""
        return self.last_fence == fence and self.last_worker == worker and self.last_end is verdict

    def blame(self, error: JobError) -> None:
        """Keep an error; the newest is the job's `error`."""
        if self.errors is None:
            self.errors = []
        self.errors.append(error)
        self.error = error.text

    def report(self, percent: float | None, note: str | None, lines: Sequence[LogLine]) -> None:
        """Keep what a handler told; None is no news. Of the log lines the newest 1,000 stay."""
        if percent is not None:
            self.percent = percent
        if note is not None:
            self.note = note
        if lines:
            self.logs = self.logs or deque(maxlen=MAX_LOG_LINES)
            self.logs.extend(lines)

    def job(self, *, whole: bool = False) -> Job:
        """The job as it is now; `whole` with its errors and logs."""
        errors = tuple(self.errors) if whole and self.errors else ()
        logs = tuple(self.logs) if whole and self.logs else ()
        meta = dict(self.meta) if self.meta else {}
        return _job_of(self, meta, errors, logs, None)


# What a message does not say of a job.
_RECORDED = (
    *("state", "attempts", "fence", "generation", "given_back", "started_at", "finished_at"),
    *("deadline", "worker", "percent", "note", "stored_checkpoint", "result", "error"),
)

_IN_MESSAGE = (
    *("queue", "task", "body", "version", "priority", "key", "max_attempts"),
    *("backoff", "timeout", "correlation_id", "tenant"),
)

# meta is copied, because a row's is its own.
_job_of = copier(Job, "meta", "errors", "logs", "run", **dict.fromkeys(_IN_MESSAGE, "message"))
