"""One job that this process holds, from its poll to its settlement."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Literal, Protocol

from ferryman.errors import InvalidMessage, LeaseLost
from ferryman.job import LogLine, State
from ferryman.lifecycle import Verdict
from ferryman.queue.heartbeat import Beat
from ferryman.queue.settlement import Settlement
from ferryman.tasks.aio import offload
from ferryman.tasks.conversion import encode_result
from ferryman.worker.kept import Kept

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable

    from ferryman.flow.failure import Failure
    from ferryman.job import Job
    from ferryman.message import Message
    from ferryman.queue.settlement import Receipt

Stop = Literal["cancel", "pause", "lost", "timeout", "drain"]

MAX_LOG = 10_000
MAX_NOTE = 1_000


class Stopped(BaseException):
    """Unwinds a handler at a safe point. Not an Exception, so `except Exception` lets it by."""

    def __init__(self, reason: Stop) -> None:
        super().__init__(reason)
        self.reason = reason


class Keeper(Protocol):
    """Who keeps a claim's lease alive and carries what its handler reports."""

    def now(self) -> float: ...

    def report_soon(self) -> None: ...

    def beat_one(self, claim: Claim, checkpoint: str) -> bool: ...

    def settle_within(
        self, connection: object, claim: Claim, settlement: Settlement
    ) -> Receipt: ...


class Claim:
    """The worker's side of a lease, and what `job.progress()` and its kin do inside a handler."""

    __slots__ = (
        "_checkpoint",
        "_keeper",
        "_logs",
        "_note",
        "_percent",
        "_unended",
        "async_task",
        "deadline",
        "failure",
        "follow",
        "follows",
        "job",
        "on_loop",
        "seconds",
        "started",
        "stop_reason",
        "told_lost",
        "trusted_until",
    )

    def __init__(self, job: Job, keeper: Keeper, trusted_until: float) -> None:
        self.job = job
        self.trusted_until = trusted_until
        self.stop_reason: Stop | None = None
        self.started: float | None = None
        self.deadline: float | None = None
        self.on_loop = False
        self.seconds = 0.0
        self.told_lost = False
        self.failure: Failure | None = None
        self.follows = False
        self.async_task: asyncio.Task[None] | None = None
        self.follow: Callable[[str | None], tuple[Message, ...]] | None = None
        self._keeper = keeper
        self._percent: float | None = None
        self._note: str | None = None
        self._logs: deque[LogLine] | None = None
        self._checkpoint = job.stored_checkpoint
        self._unended = True
        # The job came fresh from the store and is ours alone: binding it in place saves a copy.
        object.__setattr__(job, "run", self)

    @property
    def stopping(self) -> bool:
        return self.stop_reason is not None

    @property
    def ended(self) -> bool:
        return not hasattr(self, "_unended")

    def end(self) -> bool:
        """Whether the caller is the one who settles this claim: true once, then never again.

        A handler's return, its timeout and a drain can race; only one of them may settle.
        """
        try:
            del self._unended  # which only one thread can do, and costs less than a lock
        except AttributeError:
            return False
        return True

    def stop(self, reason: Stop) -> None:
        """Ask the handler to stop at its next safe point; an async one is cancelled."""
        if self.stop_reason is None:
            self.stop_reason = reason
        task = self.async_task
        if task is not None and reason != "pause":
            task.get_loop().call_soon_threadsafe(task.cancel)

    def running_as(self, task: asyncio.Task[None]) -> None:
        """The loop has begun this async handler; a stop asked before that takes effect now."""
        self.async_task = task
        if self.stop_reason is not None:
            self.stop(self.stop_reason)

    def now(self) -> float:
        return self._keeper.now()

    def progress(self, percent: float, note: str | None) -> None:
        if not 0 <= percent <= 100:
            raise InvalidMessage("percent", f"must be from 0 to 100, got {percent}")
        self._percent, self._note = float(percent), note and note[:MAX_NOTE]
        self._keeper.report_soon()
        self.safe_point()

    def log(self, text: str) -> None:
        line = LogLine(self.now(), str(text)[:MAX_LOG])
        if self._logs is None:
            self._logs = deque()
        self._logs.append(line)
        self._keeper.report_soon()

    def checkpoint(self, value: Any) -> Any:
        kept = Kept.read(self._checkpoint)
        if value is None:
            return kept.value
        self.save(kept.with_value(value))
        return value

    def step(self, name: str, work: Callable[[], Any]) -> Any:
        kept = Kept.read(self._checkpoint)
        if name not in kept.steps:
            kept = kept.with_step(name, work())
            self.save(kept)
        return kept.step(name, work)

    async def astep(self, name: str, work: Callable[[], Awaitable[Any]]) -> Any:
        kept = Kept.read(self._checkpoint)
        if name not in kept.steps:
            kept = kept.with_step(name, await work())
            await offload(self.save, kept)
        return kept.step(name, work)

    def save(self, kept: Kept) -> None:
        """Store what the next attempt shall find, before the handler goes on."""
        text = kept.text()
        if not self._keeper.beat_one(self, checkpoint=text):
            raise LeaseLost(self.job.id, self.job.fence)
        self._checkpoint = text
        self.safe_point()

    async def acheckpoint(self, value: Any) -> Any:
        return await offload(self.checkpoint, value)

    def ack(self, result: Any, connection: object) -> None:
        self.safe_point()
        percent, note, logs = self.take_report()
        text = encode_result(result)
        receipt = self._keeper.settle_within(
            connection,
            self,
            Settlement.of(
                self.job,
                Verdict.ACK,
                result=text,
                children=() if self.follow is None else self.follow(text),
                percent=percent,
                note=note,
                logs=logs,
            ),
        )
        if not receipt.applied:
            self.stop("lost")
            raise LeaseLost(self.job.id, self.job.fence)
        if receipt.state is not State.COMPLETED:
            # A stop was asked, and no heartbeat has told yet.
            self.stop("cancel")
            self.safe_point()

    def beat(self, checkpoint: str | None = None) -> Beat:
        """Take what was reported since the last beat; `untake` puts it back if it got lost."""
        percent, note, logs = self.take_report()
        job = self.job
        return Beat(job.id, job.fence, percent, note, checkpoint, logs)

    def take_report(self) -> tuple[float | None, str | None, tuple[LogLine, ...]]:
        if self._percent is None and not self._logs:
            return None, None, ()
        percent, self._percent = self._percent, None
        logs = []
        # One by one: the handler's thread may be adding a line at this very moment.
        while lines := self._logs:
            logs.append(lines.popleft())
        return percent, self._note if percent is not None else None, tuple(logs)

    def untake(self, beat: Beat) -> None:
        if self._percent is None:
            self._percent, self._note = beat.percent, beat.note
        if beat.logs:
            self._logs = self._logs or deque()
            self._logs.extendleft(reversed(beat.logs))

    def safe_point(self) -> None:
        """Unwind the handler if a stop was asked or the lease is lost."""
        if self.stop_reason is not None:
            raise Stopped(self.stop_reason)
