"""push, poll, ack, nack on one queue, for those who write the loop themselves."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Protocol

from ferryman.errors import LeaseLost
from ferryman.ids import worker_id
from ferryman.job import JobError
from ferryman.lifecycle import Verdict
from ferryman.queue.settlement import Settlement
from ferryman.tasks.aio import AsyncQueue
from ferryman.tasks.conversion import encode_result
from ferryman.tasks.options import DEFAULT_TIMEOUT
from ferryman.worker.ends import tell_end
from ferryman.worker.leases import LeaseKeeper

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.events import Events
    from ferryman.job import Job
    from ferryman.queue.answers import QueueCounts
    from ferryman.queue.contract import Backend
    from ferryman.tasks.handle import Handle
    from ferryman.worker.claim import Claim


class Owner(Protocol):
    """The Ferry that a queue belongs to."""

    events: Events

    @property
    def backend(self) -> Backend: ...

    def push(
        self, task: str, payload: Any = None, *, connection: object | None = None, **options: Any
    ) -> Handle[Any]: ...


class Queue(AsyncQueue):
    """One queue in the seeds' words. Leases of polled jobs are kept alive until ack or nack.

    A job that is never acked keeps its lease only as long as its timeout (15 minutes unless it says
    otherwise); then it goes back to the queue, charged.
    """

    def __init__(self, name: str, owner: Owner, *, lease: float) -> None:
        self.name = name
        self._owner = owner
        self._lease = lease
        self._lock = threading.Lock()
        self._keeper: _TimedKeeper | None = None

    def push(self, payload: Any = None, **options: Any) -> Handle[Any]:
        """Hand over a job; its task has the queue's name unless `task` says otherwise."""
        task = options.pop("task", self.name)
        return self._owner.push(task, payload, queue=self.name, **options)

    def poll(self, batch_size: int = 1, *, wait: float = 0.0) -> Sequence[Job]:
        """Claim up to `batch_size` due jobs; with `wait`, block that many seconds for the first."""
        keeper = self._started()
        claims = keeper.poll({self.name: batch_size})
        if not claims and wait > 0 and self._owner.backend.wait([self.name], wait):
            claims = keeper.poll({self.name: batch_size})
        for claim in claims:
            claim.deadline = keeper.deadline(claim.job.timeout)
            claim.started = keeper.monotonic()
            self._owner.events.emit("job.started", job=claim.job, worker=keeper.worker)
        return [claim.job for claim in claims]

    def ack(self, job: Job, result: Any = None) -> None:
        """Finish a job; `LeaseLost` if the claim is no longer ours."""
        self._settle(job, Verdict.ACK, result=encode_result(result))

    def nack(
        self, job: Job, error: str = "given back by nack", *, delay: float | None = None
    ) -> None:
        """Give a job back, charged: it is tried again after `delay` seconds (None: by its backoff)
        until its attempts are used up. `LeaseLost` if the claim is no longer ours."""
        self._settle(job, Verdict.NACK, error=error, delay=delay)

    def counts(self) -> QueueCounts | None:
        """This queue's jobs by state; None if it has never had any."""
        return self._owner.backend.snapshot().queues.get(self.name)

    def close(self) -> None:
        """Stop the heartbeats and give back, uncharged, what is still held."""
        with self._lock:
            keeper, self._keeper = self._keeper, None
        if keeper is None:
            return
        keeper.stop(1.0)
        held = [claim for claim in keeper.held if claim.end()]
        if held:
            self._owner.backend.settle([_settlement(c.job, Verdict.GIVE_BACK) for c in held])

    def _settle(
        self,
        job: Job,
        verdict: Verdict,
        *,
        result: str | None = None,
        error: str | None = None,
        delay: float | None = None,
    ) -> None:
        keeper = self._started()
        claim = keeper.find(job)
        kept = None
        if error is not None:
            kept = JobError(job.attempts, keeper.now(), keeper.worker, "nack", error)
        settlement = _settlement(job, verdict, claim, result=result, error=kept, delay=delay)
        receipt = self._owner.backend.settle([settlement])[0]
        if claim is not None:
            claim.end()
            keeper.drop([claim])
            claim.seconds = keeper.monotonic() - (claim.started or 0.0)
            tell_end(self._owner.events, keeper.worker, claim, settlement, receipt)
        if not receipt.applied:
            raise LeaseLost(job.id, job.fence)

    def _started(self) -> _TimedKeeper:
        with self._lock:
            if self._keeper is None:
                worker = worker_id()
                events = self._owner.events
                self._keeper = _TimedKeeper(
                    self._owner.backend,
                    worker,
                    lease=self._lease,
                    events=events,
                    died=lambda name, error: events.emit(
                        "worker.broken", worker=worker, loop=name, error=error
                    ),
                )
                self._keeper.start()
            return self._keeper


class _TimedKeeper(LeaseKeeper):
    """Lets go of jobs whose holder seems to have forgotten them."""

    def deadline(self, timeout: float | None) -> float:
        return self.monotonic() + (DEFAULT_TIMEOUT if timeout is None else timeout)

    def beat(self) -> None:
        now = self.monotonic()
        for claim in self.held:
            if claim.deadline is not None and now > claim.deadline and claim.end():
                self._let_go(claim)
        super().beat()

    def _let_go(self, claim: Claim) -> None:
        job = claim.job
        claim.stop("timeout")
        text = "neither acked nor nacked within its timeout"
        error = JobError(job.attempts, self.now(), self.worker, "timeout", text)
        self._backend.settle([_settlement(job, Verdict.NACK, claim, error=error)])
        self.drop([claim])


def _settlement(
    job: Job, verdict: Verdict, claim: Claim | None = None, **fields: Any
) -> Settlement:
    percent, note, logs = (None, None, ()) if claim is None else claim.take_report()
    return Settlement.of(job, verdict, percent=percent, note=note, logs=logs, **fields)
