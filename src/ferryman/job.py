"""A message that the store has accepted, with its state."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, cast

from ferryman.errors import NotAllowed
from ferryman.message import decode

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

T = TypeVar("T")


class State(StrEnum):
    """The six states, the same on every backend. Pending with `ready_at` ahead is scheduled."""

    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    PAUSED = "paused"

    @property
    def terminal(self) -> bool:
        """Whether only `retry` leads out of it."""
        return self in TERMINAL


TERMINAL = frozenset({State.COMPLETED, State.FAILED, State.CANCELLED})
WAITING = frozenset({State.PENDING, State.PAUSED})

Ask = Literal["cancel", "pause"]


@dataclass(frozen=True, slots=True)
class JobError:
    """Why one claim of a job did not end well."""

    attempt: int
    at: float
    worker: str | None
    kind: str
    text: str
    traceback: str | None = None


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line that a handler wrote with `job.log`."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Job:
    """One job as the store saw it at one moment; inside its handler also the handler's context.

    Times are seconds since the epoch by the store's clock. `fence` is the number of the latest
    claim; `attempts` counts the charged ones, the running one included. `body`, `result` and
    `stored_checkpoint` are JSON text. `errors` and `logs` are filled by `get` only.
    """

    id: str
    queue: str
    task: str
    body: str
    state: State
    priority: int
    ready_at: float
    seq: int
    version: int
    attempts: int
    max_attempts: int
    fence: int
    generation: int
    given_back: int
    created_at: float
    started_at: float | None = None
    finished_at: float | None = None
    deadline: float | None = None
    worker: str | None = None
    heartbeat_at: float | None = None
    expires_at: float | None = None
    asked: Ask | None = None
    key: str | None = None
    backoff: str | None = None
    timeout: float | None = None
    correlation_id: str | None = None
    meta: Mapping[str, str] = field(default_factory=dict)
    tenant: str | None = None
    percent: float | None = None
    note: str | None = None
    stored_checkpoint: str | None = None
    result: str | None = None
    error: str | None = None
    errors: tuple[JobError, ...] = ()
    logs: tuple[LogLine, ...] = ()
    run: Run | None = field(default=None, compare=False, repr=False)

    @property
    def payload(self) -> Any:
        return decode(self.body)

    @property
    def cancelled(self) -> bool:
        """Whether the handler should stop: a cancel or pause was asked, or the lease is lost."""
        return self._running().stopping

    def progress(self, percent: float, note: str | None = None) -> None:
        """Report how far the work is, 0 to 100. A safe point: an asked stop happens here."""
        self._running().progress(percent, note)

    def log(self, text: str) -> None:
        """Keep a line with the job; stored with the next heartbeat or at the end of the attempt."""
        self._running().log(text)

    def checkpoint(self, value: Any = None) -> Any:
        """Save plain JSON for the next attempt before going on; without a value, read the last one.

        A safe point: a stop that was asked happens here, after the save. Raises `LeaseLost`.
        """
        return self._running().checkpoint(value)

    def ack(self, result: Any = None, *, connection: object) -> None:
        """Complete this job in the handler's own database transaction: with its commit, or not.

        `connection` is open on the database that keeps the jobs. Do it last, right before the
        commit, and then return: until then the job is locked, and its lease is not prolonged.
        Raises `LeaseLost`, and like every safe point stops a handler that was asked to: let either
        roll the transaction back.
        """
        self._running().ack(result, connection)

    async def acheckpoint(self, value: Any = None) -> Any:
        """`checkpoint` for `async def` handlers."""
        return await self._running().acheckpoint(value)

    def step(self, name: str, work: Callable[[], T]) -> T:
        """Do a part of the work once across attempts: later ones get what it came to.

        The result is kept as JSON with the checkpoint, 1 MiB for all together; models are rebuilt
        where `work` says what it returns. Names are unique in a job. An attempt that dies between
        the work and its record does it again. A safe point, and raises `LeaseLost`.
        """
        return cast("T", self._running().step(name, work))

    async def astep(self, name: str, work: Callable[[], Awaitable[T]]) -> T:
        """`step` for `async def` handlers."""
        return cast("T", await self._running().astep(name, work))

    def _running(self) -> Run:
        if self.run is None:
            raise NotAllowed(f"job {self.id!r} is not running here: only its handler may do this")
        return self.run


class Run(Protocol):
    """What a held job can do; the worker and `queue.poll` provide it."""

    @property
    def stopping(self) -> bool: ...

    def progress(self, percent: float, note: str | None) -> None: ...

    def log(self, text: str) -> None: ...

    def checkpoint(self, value: Any) -> Any: ...

    async def acheckpoint(self, value: Any) -> Any: ...

    def step(self, name: str, work: Callable[[], Any]) -> Any: ...

    async def astep(self, name: str, work: Callable[[], Awaitable[Any]]) -> Any: ...

    def ack(self, result: Any, connection: object) -> None: ...
