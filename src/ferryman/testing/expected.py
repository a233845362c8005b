"""What the model knows of one job, and how a backend's view of it is compared."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ferryman.job import TERMINAL, WAITING, JobError, State
from ferryman.lifecycle import EXPIRED, WORKER_TIMED_OUT, Act, Verdict, act, land
from ferryman.queue.settlement import mark
from ferryman.retry import Backoff

if TYPE_CHECKING:
    from ferryman.job import Ask, Job, LogLine
    from ferryman.message import Message
    from ferryman.queue.settlement import Settlement

TOLERANCE: Final = 0.001  # some stores keep milliseconds

PLAIN: Final = (
    *("id", "queue", "task", "version", "state", "priority", "attempts", "max_attempts", "fence"),
    *("generation", "given_back", "worker", "key", "backoff", "correlation_id", "note", "error"),
    "tenant",
)
TIMES: Final = (
    *("ready_at", "created_at", "started_at", "finished_at", "deadline", "heartbeat_at"),
    *("expires_at", "timeout", "percent"),
)
JSON: Final = ("body", "stored_checkpoint", "result")


@dataclass(slots=True)
class Expected:
    """A job as it must be. The names are those of `Job`; `order` is its place in push order."""

    id: str
    order: int
    created_at: float
    queue: str = ""
    task: str = ""
    body: str = "null"
    version: int = 1
    priority: int = 0
    ready_at: float = 0.0
    deadline: float | None = None
    key: str | None = None
    max_attempts: int = 5
    backoff: str | None = None
    timeout: float | None = None
    correlation_id: str | None = None
    tenant: str | None = None
    meta: dict[str, str] = field(default_factory=dict)
    state: State = State.PENDING
    attempts: int = 0
    fence: int = 0
    generation: int = 1
    given_back: int = 0
    worker: str | None = None
    turn: int = 0
    started_at: float | None = None
    heartbeat_at: float | None = None
    expires_at: float | None = None
    finished_at: float | None = None
    asked: Ask | None = None
    percent: float | None = None
    note: str | None = None
    stored_checkpoint: str | None = None
    result: str | None = None
    error: str | None = None
    errors: list[JobError] = field(default_factory=list)
    logs: list[LogLine] = field(default_factory=list)
    settled: str | None = None
    ready_between: tuple[float, float] | None = None
    """Where `ready_at` may lie while the store alone knows it; the first look settles it."""

    @classmethod
    def of(cls, job: Job, order: int, now: float) -> Expected:
        """A whole job as it must be once it is restored at this moment."""
        entry = cls(job.id, order, job.created_at)
        for name in (*PLAIN, *TIMES, *JSON):
            setattr(entry, name, getattr(job, name))
        entry.meta = dict(job.meta)
        entry.errors, entry.logs = [*job.errors], [*job.logs]
        if job.state is State.PROCESSING:
            entry.attempts -= 1
            entry.given_back += 1
            ends: dict[Ask | None, State] = {"cancel": State.CANCELLED, "pause": State.PAUSED}
            entry.enter(ends.get(job.asked, State.PENDING), now)
        return entry

    def same_work(self, other: Expected) -> bool:
        """Whether queue, task, version and payload agree."""
        names = ("queue", "task", "version")
        same = all(getattr(self, name) == getattr(other, name) for name in names)
        return same and _same_json(self.body, other.body)

    def adopt(self, message: Message, now: float) -> None:
        """The body and options of a message."""
        for name in ("queue", "task", "body", "version", "priority", "key", "max_attempts"):
            setattr(self, name, getattr(message, name))
        for name in ("backoff", "timeout", "correlation_id", "tenant"):
            setattr(self, name, getattr(message, name))
        self.meta = dict(message.meta)
        self.ready_at = now + message.delay if message.ready_at is None else message.ready_at
        self.ready_between = None
        self.deadline = None if message.expires is None else now + message.expires

    def start_anew(self) -> None:
        """Other work: what earlier attempts did is forgotten."""
        self.attempts = self.given_back = 0
        self.percent = self.note = self.stored_checkpoint = None

    def claim(self, worker: str, turn: int, now: float, expires_at: float) -> None:
        """A poll gave it to a worker."""
        self.state = State.PROCESSING
        self.fence += 1
        self.attempts += 1
        self.worker, self.turn = worker, turn
        self.started_at = self.heartbeat_at = now
        self.expires_at = expires_at

    def settle(self, settlement: Settlement, now: float) -> bool:
        """Its worker ended the claim; whether the children are handed over."""
        self.report(settlement.percent, settlement.note, settlement.logs)
        if settlement.error is not None:
            self.blame(settlement.error)
        if settlement.verdict is Verdict.ACK:
            self.result = settlement.result
        return self.end(settlement.verdict, settlement.delay, now)

    def end(self, verdict: Verdict, delay: float | None, now: float) -> bool:
        """The claim is over, as `lifecycle.land` says."""
        landing = land(
            verdict,
            asked=self.asked,
            attempts=self.attempts,
            max_attempts=self.max_attempts,
            given_back=self.given_back,
        )
        if landing.state in WAITING:
            self.ready_between = self._ready_again(verdict, delay, now)
        if not landing.charged:
            self.attempts -= 1
            self.given_back += 1
        self.settled = mark(self.fence, self.worker, verdict)
        self.enter(landing.state, now)
        return landing.hands_over

    def end_lease(self, now: float) -> None:
        """The reaper found its lease expired."""
        self.blame(JobError(self.attempts, now, self.worker, "lease", WORKER_TIMED_OUT))
        self.end(Verdict.EXPIRE, None, now)

    def end_late(self, now: float) -> None:
        """The reaper found it waiting past its deadline."""
        self.blame(JobError(self.attempts, now, None, "expired", EXPIRED))
        self.enter(act(self.state, Act.CANCEL, self.id), now)

    def act(self, verb: Act, after: State, now: float) -> None:
        """An operator did this to it."""
        if after is State.PROCESSING:
            self.asked = "cancel" if verb is Act.CANCEL else self.asked or "pause"
        elif verb is not Act.DELETE:
            self.enter(after, now)
        if verb is Act.RETRY:
            self.generation += 1
            self.attempts = self.given_back = 0
            self.ready_at, self.ready_between = now, None
            self.result = self.percent = self.note = self.deadline = self.finished_at = None

    def enter(self, state: State, now: float) -> None:
        """No claim is current; only a finished job keeps the name of its worker."""
        self.state = state
        self.heartbeat_at = self.expires_at = self.asked = None
        if state in TERMINAL:
            self.finished_at = now
        else:
            self.worker = None

    def report(self, percent: float | None, note: str | None, logs: tuple[LogLine, ...]) -> None:
        """What the handler told since the last time; None is no news."""
        self.percent = self.percent if percent is None else percent
        self.note = self.note if note is None else note
        self.logs.extend(logs)

    def blame(self, error: JobError) -> None:
        """One more error; the newest is `error`."""
        self.errors.append(error)
        self.error = error.text

    def compare(self, job: Job, *, whole: bool) -> None:
        """Assert that the backend's job is this one, and learn what only the store can know."""
        if self.ready_between is not None:
            low, high = self.ready_between
            assert low - TOLERANCE <= job.ready_at <= high + TOLERANCE, (
                f"job {self.id!r}: ready_at {job.ready_at} is outside {low} … {high}"
            )
            self.ready_at, self.ready_between = job.ready_at, None
        wrong = self._differences(job)
        if whole:
            wrong |= self._differences_in_records(job)
        assert not wrong, f"job {self.id!r}: (is, should be) differ in {wrong}"

    def _ready_again(
        self, verdict: Verdict, delay: float | None, now: float
    ) -> tuple[float, float]:
        if delay is not None:
            return now + delay, now + delay
        if verdict is Verdict.GIVE_BACK:
            return min(self.ready_at, now), now  # "at once" may keep its place in the line
        backoff = Backoff.parse(self.backoff)
        least, most = (backoff.delay(self.attempts, roll) for roll in (0.0, 1.0))
        return now + least, now + most

    def _differences(self, job: Job) -> dict[str, tuple[Any, Any]]:
        pairs = {
            name: (getattr(job, name), getattr(self, name)) for name in (*PLAIN, *TIMES, *JSON)
        }
        wrong = {name: pairs[name] for name in PLAIN if pairs[name][0] != pairs[name][1]}
        wrong |= {name: pairs[name] for name in TIMES if not _same_number(*pairs[name])}
        wrong |= {name: pairs[name] for name in JSON if not _same_json(*pairs[name])}
        if dict(job.meta) != self.meta:
            wrong["meta"] = (job.meta, self.meta)
        # Once a claim has ended, what was asked of it is no one's business any more.
        if self.state is State.PROCESSING and job.asked != self.asked:
            wrong["asked"] = (job.asked, self.asked)
        return wrong

    def _differences_in_records(self, job: Job) -> dict[str, tuple[Any, Any]]:
        wrong: dict[str, tuple[Any, Any]] = {}
        if [*map(_error_facts, job.errors)] != [*map(_error_facts, self.errors)]:
            wrong["errors"] = (job.errors, self.errors)
        if [line.text for line in job.logs] != [line.text for line in self.logs]:
            wrong["logs"] = (job.logs, self.logs)
        return wrong


def _error_facts(error: JobError) -> tuple[object, ...]:
    return (error.kind, error.text, error.attempt, error.worker, error.traceback)


def _same_number(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= TOLERANCE


def _same_json(one: str | None, other: str | None) -> bool:
    return one == other or (one is not None and other is not None and _read(one) == _read(other))


def _read(text: str) -> Any:
    return json.loads(text)
