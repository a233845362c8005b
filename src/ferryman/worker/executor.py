"""Runs one job: from a claim to the settlement that says how it ended. No storage here."""

from __future__ import annotations

import asyncio
import traceback
from functools import partial
from typing import TYPE_CHECKING, Any

from ferryman.errors import InvalidMessage, LeaseLost
from ferryman.flow.failure import Failure
from ferryman.job import JobError
from ferryman.lifecycle import Verdict
from ferryman.message import decode
from ferryman.outcomes import Cancel, Fail, Outcome, Retry, Snooze
from ferryman.queue.settlement import make_settlement
from ferryman.tasks.aio import offload
from ferryman.tasks.conversion import encode_result
from ferryman.tasks.limits import covering
from ferryman.tasks.passage import PIPELINE, HandOver, in_a_run
from ferryman.worker import yielding
from ferryman.worker.batch import Batch
from ferryman.worker.claim import Stopped
from ferryman.worker.current import current

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.job import Job
    from ferryman.message import Message
    from ferryman.queue.settlement import Settlement
    from ferryman.tasks.passage import Passage, Spread
    from ferryman.tasks.task import Task
    from ferryman.tasks.tasks import Tasks
    from ferryman.worker.claim import Claim

UNKNOWN_TASK_DELAY = 10.0
"""Seconds before another worker, perhaps of a newer release, may look at the job again."""
MAX_TRACEBACK = 20_000


class Executor:
    """Turns what a handler does into a `Settlement`, for `def` and `async def` alike."""

    def __init__(self, tasks: Tasks, worker: str) -> None:
        self._tasks = tasks
        self._worker = worker

    def task_of(self, claim: Claim) -> Task[..., Any] | None:
        """The task that can run this job; None: unknown here, or of a newer version."""
        job = claim.job
        task = self._tasks.get(job.task)
        if task is None or job.version > task.version:
            return None
        return task if not in_a_run(job) or self._knows_run(job) else None

    def run(self, claim: Claim, task: Task[..., Any]) -> Settlement:
        token = current.set(claim.job)
        if task.limits.needs:
            covering.set(task.limits.needs)
        try:
            return self._said(claim, task, task.handler(**self.arguments(claim, task)))
        except BaseException as error:
            return self._raised(claim, task, error)
        finally:
            current.reset(token)
            if task.limits.needs:
                covering.set(())

    async def run_async(self, claim: Claim, task: Task[..., Any]) -> Settlement:
        token = current.set(claim.job)
        covering.set(task.limits.needs)
        try:
            if self._passage(claim) is not None:
                return await self._run_in_a_run(claim, task)
            return self._said(claim, task, await task.handler(**self.arguments(claim, task)))
        except BaseException as error:
            return self._raised(claim, task, error)
        finally:
            current.reset(token)

    async def _run_in_a_run(self, claim: Claim, task: Task[..., Any]) -> Settlement:
        """The same where the passage may have to ask the store, which must not block the loop."""
        value = task.handler(**await offload(self.arguments, claim, task))
        if (passage := self._passage(claim)) is not None and yielding.is_async(value):
            spread = await offload(passage.spread, claim)
            await yielding.adrain(value, spread)
            return await offload(self._spread_out, claim, spread)
        return await offload(self._said, claim, task, await value)

    def run_batch(self, claims: Sequence[Claim], task: Task[..., Any]) -> Sequence[Settlement]:
        """Run several jobs in one call; each has an end of its own."""
        batch = Batch(self, claims, task)
        covering.set(task.limits.needs)
        try:
            return batch.said(task.handler(**batch.arguments)) if batch.claims else batch.ends
        except BaseException as error:
            return batch.raised(error)
        finally:
            covering.set(())

    async def run_batch_async(
        self, claims: Sequence[Claim], task: Task[..., Any]
    ) -> Sequence[Settlement]:
        batch = await offload(Batch, self, claims, task)
        covering.set(task.limits.needs)
        try:
            if not batch.claims:
                return batch.ends
            return await offload(batch.said, await task.handler(**batch.arguments))
        except BaseException as error:
            return batch.raised(error)

    def said(self, claim: Claim, task: Task[..., Any], value: Any) -> Settlement:
        """The end of a claim whose handler returned this, or has this to say of it."""
        if isinstance(value, BaseException):
            return self._raised(claim, task, value)
        return self._said(claim, task, value)

    def unknown(self, claim: Claim) -> Settlement:
        """Give back a job that no handler here can run."""
        job = claim.job
        task = self._tasks.get(job.task)
        if task is None:
            why = f"no handler for task {job.task!r} in this worker"
        elif job.version > task.version:
            why = f"task {job.task!r} version {job.version} is newer than this worker's"
        else:
            why = f"no pipeline {job.meta[PIPELINE]!r} with this stage in this worker"
        return self._settle(
            claim, Verdict.GIVE_BACK, error=("unknown_task", why), delay=UNKNOWN_TASK_DELAY
        )

    def give_back(self, claim: Claim, delay: float | None = None) -> Settlement:
        """Hand a claim back, uncharged and without a mark on the job: it did nothing wrong."""
        return self._settle(claim, Verdict.GIVE_BACK, delay=delay)

    def timed_out(self, claim: Claim, seconds: float) -> Settlement:
        """Charge an attempt that ran over its time."""
        claim.failure = Failure.of(TimeoutError(f"{seconds:g} s"), claim.now())
        return self._settle(
            claim, Verdict.NACK, error=("timeout", f"ran longer than its timeout of {seconds:g} s")
        )

    def crashed(self, claim: Claim, how: str) -> Settlement:
        """Charge an attempt whose process died under it."""
        return self._settle(claim, Verdict.NACK, error=("crash", how))

    def postponed(self, claim: Claim, why: tuple[str, str]) -> Settlement:
        """Give back a job that cannot be begun here now; `why` is a kind and a text."""
        return self._settle(claim, Verdict.GIVE_BACK, error=why, delay=UNKNOWN_TASK_DELAY)

    def reported(
        self,
        claim: Claim,
        verdict: Verdict,
        *,
        result: str | None,
        error: tuple[str, str] | None,
        delay: float | None,
        trace: str | None,
        task: Task[..., Any],
        spread: Spread | None,
    ) -> Settlement:
        """The end that another executor, in a child process, came to; `spread` has its children."""
        if verdict is not Verdict.ACK:
            return self._settle(claim, verdict, error=error, delay=delay, trace=trace)
        try:
            if spread is not None:
                return self._spread_out(claim, spread)
            return self._settle(claim, verdict, result=result, children=self._next(claim, result))
        except BaseException as raised:
            return self._raised(claim, task, raised)

    def payload_of(self, claim: Claim) -> Any:
        """What the handler is given: a pipeline may have something else than the job's own."""
        passage = self._passage(claim)
        if passage is None:
            return claim.job.payload
        claim.follow = partial(self._next, claim)
        return passage.payload(claim.job)

    def spread(self, claim: Claim) -> Spread | None:
        """Where the items go that a handler yields; None if the job is of no run."""
        passage = self._passage(claim)
        return None if passage is None else passage.spread(claim)

    def raised(self, claim: Claim, task: Task[..., Any], error: BaseException) -> Settlement:
        """The end of a claim whose work raised outside of the handler."""
        return self._raised(claim, task, error)

    def _said(self, claim: Claim, task: Task[..., Any], value: Any) -> Settlement:
        if value is None:
            return self._settle(claim, Verdict.ACK)
        if isinstance(value, Outcome):
            return self._raised(claim, task, value)
        if isinstance(value, HandOver):
            return self._settle(claim, Verdict.ACK, children=value.children)
        if yielding.is_sync(value) and (spread := self.spread(claim)) is not None:
            yielding.drain(value, spread)
            return self._spread_out(claim, spread)
        try:
            result = encode_result(value)
        except InvalidMessage as error:
            return self._raised(claim, task, Fail(f"its result cannot be kept: {error}"))
        return self._settle(claim, Verdict.ACK, result=result, children=self._next(claim, result))

    def _next(self, claim: Claim, result: str | None) -> tuple[Message, ...]:
        passage = None if result is None else self._passage(claim)
        return () if passage is None or result is None else passage.follow(claim, decode(result))

    def _spread_out(self, claim: Claim, spread: Spread) -> Settlement:
        count, children = spread.end()
        return self._settle(claim, Verdict.ACK, result=str(count), children=children)

    def _passage(self, claim: Claim) -> Passage | None:
        """The pipelines, where the job is of a run; nearly all other jobs have no meta at all."""
        return self._tasks.passage if claim.job.meta and in_a_run(claim.job) else None

    def _knows_run(self, job: Job) -> bool:
        return self._tasks.passage is not None and self._tasks.passage.knows(job)

    def arguments(self, claim: Claim, task: Task[..., Any]) -> dict[str, Any]:
        """What the handler is called with."""
        payload = self.payload_of(claim)
        try:
            return task.arguments(claim.job, payload)
        except InvalidMessage as error:
            # No later attempt with the same code could read it either.
            raise Fail(f"its payload does not fit task {task.name!r}: {error}") from error

    def _raised(self, claim: Claim, task: Task[..., Any], error: BaseException) -> Settlement:
        match error:
            case Snooze():
                return self._settle(claim, Verdict.GIVE_BACK, delay=error.seconds)
            case Retry(after=after):
                claim.failure = Failure.of(error, claim.now())
                policy = task.options.retry
                delay = after if after is not None else policy.backoff.delay(claim.job.attempts)
                return self._settle(claim, Verdict.NACK, error=("retry", str(error)), delay=delay)
            case Fail():
                return self._settle(claim, Verdict.FAIL, error=("fail", str(error)))
            case Cancel():
                return self._settle(claim, Verdict.CANCEL, error=("cancel", str(error)))
            case Stopped() | asyncio.CancelledError() if claim.stopping:
                return self._settle(claim, Verdict.GIVE_BACK)
            case LeaseLost() if claim.stop_reason == "lost":
                return self._settle(claim, Verdict.GIVE_BACK)
            case _:
                return self._error(claim, task, error)

    def _error(self, claim: Claim, task: Task[..., Any], error: BaseException) -> Settlement:
        claim.failure = failure = Failure.of(error, claim.now())
        delay = task.options.retry.decide(error, claim.job.attempts)
        verdict = Verdict.FAIL if delay is None else Verdict.NACK
        if delay is not None and failure.retry_after is not None:
            # A service that names a time has not refused the job.
            verdict, delay = Verdict.GIVE_BACK, failure.retry_after
        text = "".join(traceback.format_exception_only(error)).strip()
        # Our own frame says nothing to the reader of a traceback.
        theirs = error.__traceback__ and error.__traceback__.tb_next
        trace = "".join(traceback.format_exception(type(error), error, theirs))[-MAX_TRACEBACK:]
        return self._settle(
            claim, verdict, error=(type(error).__name__, text), delay=delay, trace=trace
        )

    def _settle(
        self,
        claim: Claim,
        verdict: Verdict,
        *,
        result: str | None = None,
        error: tuple[str, str] | None = None,
        delay: float | None = None,
        trace: str | None = None,
        children: tuple[Message, ...] = (),
    ) -> Settlement:
        job = claim.job
        percent, note, logs = claim.take_report()
        kept = None
        if error is not None:
            kind, text = error
            kept = JobError(job.attempts, claim.now(), self._worker, kind, text, trace)
        return make_settlement(
            job.id,
            job.fence,
            self._worker,
            job.queue,
            verdict,
            result,
            kept,
            delay,
            children,
            percent,
            note,
            logs,
        )
