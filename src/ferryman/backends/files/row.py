"""A job as its files tell it: mutable here, a frozen `Job` to everyone outside."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from ferryman.backends.files.moments import not_before, whole
from ferryman.frozen import copier
from ferryman.job import Job, State
from ferryman.lifecycle import MAX_LOG_LINES
from ferryman.message import decode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferryman.job import Ask, JobError, LogLine
    from ferryman.message import Message


class Row:
    """One job: what `task.json` says, what happened since, and its lease if it has one.

    `settled` is the mark of its last settlement. `children` wait in a completed record until they
    are handed over. `revision` counts replacements of the body. `own_facts`: there is a history
    beside the task. `told_ready_at` is the `ready_at` that its file told, 0 if none; None where
    nobody may edit the task, or it is to be written anew.
    """

    __slots__ = (
        "asked",
        "attempts",
        "backoff",
        "body",
        "children",
        "correlation_id",
        "created_at",
        "deadline",
        "error",
        "errors",
        "expires_at",
        "fence",
        "finished_at",
        "generation",
        "given_back",
        "heartbeat_at",
        "id",
        "key",
        "logs",
        "max_attempts",
        "meta",
        "note",
        "own_facts",
        "percent",
        "priority",
        "queue",
        "ready_at",
        "result",
        "revision",
        "seq",
        "settled",
        "started_at",
        "state",
        "stored_checkpoint",
        "task",
        "tenant",
        "timeout",
        "told_ready_at",
        "version",
        "worker",
    )

    def __init__(self, queue: str, job_id: str, task: str, body: str) -> None:
        self.id = job_id
        self.queue = queue
        self.task = task
        self.body = body
        self.version = 1
        self.priority = 0
        self.max_attempts = 5
        self.seq = 0
        self.state: State = State.PENDING
        self.attempts = self.fence = self.given_back = 0
        self.generation = 1
        self.created_at = self.ready_at = 0.0
        self.told_ready_at: float | None = None
        self.started_at: float | None = None
        self.finished_at: float | None = None
        self.deadline: float | None = None
        self.worker: str | None = None
        self.heartbeat_at: float | None = None
        self.expires_at: float | None = None
        self.asked: Ask | None = None
        self.key: str | None = None
        self.backoff: str | None = None
        self.timeout: float | None = None
        self.correlation_id: str | None = None
        self.tenant: str | None = None
        self.meta: Mapping[str, str] | None = None
        self.percent: float | None = None
        self.note: str | None = None
        self.stored_checkpoint: str | None = None
        self.result: str | None = None
        self.error: str | None = None
        self.errors: list[JobError] = []
        self.logs: list[LogLine] = []
        self.settled: str | None = None
        self.children: Sequence[Message] = ()
        self.revision = 0
        self.own_facts = False

    @classmethod
    def of(cls, message: Message, seq: int, now: float) -> Row:
        """A new pending job."""
        row = cls(message.queue, message.id, message.task, message.body)
        row.seq = seq
        row.created_at = now
        row.adopt(message, now)
        return row

    @classmethod
    def restored(cls, job: Job, seq: int) -> Row:
        """A whole job of another store, at the end of the push order."""
        row = cls(job.queue, job.id, job.task, job.body)
        for name in _KEPT:
            setattr(row, name, getattr(job, name))
        for name in _TIMES:
            moment = getattr(job, name)
            setattr(row, name, None if moment is None else whole(moment))
        row.ready_at = not_before(job.ready_at)
        row.meta = job.meta or None
        row.errors, row.logs = list(job.errors), list(job.logs)
        row.seq = seq
        row.own_facts = True
        return row

    def copy(self) -> Row:
        """Another row with the same facts, to be changed."""
        row = Row.__new__(Row)
        for name in Row.__slots__:
            setattr(row, name, getattr(self, name))
        row.errors, row.logs = list(self.errors), list(self.logs)
        return row

    def adopt(self, message: Message, now: float) -> None:
        """Take over the body and options of a message; what has happened so far stays."""
        self.task = message.task
        self.body = message.body
        self.told_ready_at = None
        self.version = message.version
        self.priority = message.priority
        ready_at = now + message.delay if message.ready_at is None else message.ready_at
        self.ready_at = not_before(ready_at)
        self.deadline = None if message.expires is None else whole(now + message.expires)
        self.key = message.key
        self.max_attempts = message.max_attempts
        self.backoff = message.backoff
        self.timeout = message.timeout
        self.correlation_id = message.correlation_id
        self.tenant = message.tenant
        self.meta = message.meta or None

    def is_rest_of(self, known: Row) -> bool:
        """Whether it adds nothing to a job of its id: the same work, or that job of earlier."""
        alike = (self.queue, self.task, self.version) == (known.queue, known.task, known.version)
        if alike and (self.body == known.body or decode(self.body) == decode(known.body)):
            return True
        same_birth = (self.created_at, self.seq) == (known.created_at, known.seq)
        return same_birth and self.rank < known.rank

    @property
    def rank(self) -> tuple[int, int]:
        """Of two jobs of one id the higher one is the later."""
        return self.revision, self.generation

    def start_anew(self) -> None:
        """Forget what earlier attempts did: the row holds other work now."""
        self.attempts = self.given_back = 0
        self.percent = self.note = self.stored_checkpoint = None

    def renew(self, now: float) -> None:
        """A finished job gets a new budget: the next generation, ready now."""
        self.generation += 1
        self.attempts = self.given_back = 0
        self.ready_at = now
        self.told_ready_at = None
        self.state = State.PENDING
        self.result = self.percent = self.note = self.finished_at = self.deadline = None
        self.worker = self.heartbeat_at = self.expires_at = self.asked = None
        self.children = ()
        self.own_facts = True

    def blame(self, error: JobError) -> None:
        """Keep an error; the newest is the job's `error`."""
        self.errors.append(error)
        self.error = error.text

    def report(self, percent: float | None, note: str | None, lines: Sequence[LogLine]) -> None:
        """Keep what a handler told; None is no news. Of the log lines the newest 1,000 stay."""
        if percent is not None:
            self.percent = percent
        if note is not None:
            self.note = note
        if lines:
            self.logs = [*self.logs, *lines][-MAX_LOG_LINES:]

    def job(self, *, whole: bool = False) -> Job:
        """The job as it is now; `whole` with its errors and logs."""
        errors = tuple(self.errors) if whole else ()
        logs = tuple(self.logs) if whole else ()
        return _job(self, dict(self.meta) if self.meta else {}, errors, logs, None)


# Rows and jobs name their fields alike.
_job = copier(Job, "meta", "errors", "logs", "run")
_TIMES = ("created_at", "started_at", "finished_at", "deadline")
_NEW = {"seq", "ready_at", "meta", "errors", "logs", "run", "heartbeat_at", "expires_at", "asked"}
_KEPT = tuple(field.name for field in fields(Job) if field.name not in {*_TIMES, *_NEW})
