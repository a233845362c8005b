"""One worker process: the loops that claim, run, keep, settle and tidy, put together."""

from __future__ import annotations

import os
import socket
import threading
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Literal

from ferryman.errors import TaskError
from ferryman.ids import worker_id
from ferryman.worker.batch import ENGINE, Batch
from ferryman.worker.event_loop import EventLoopThread
from ferryman.worker.executor import Executor
from ferryman.worker.lane import MAX_BUFFER, MAX_SERVED, Lane
from ferryman.worker.leases import LeaseKeeper
from ferryman.worker.loop_watchdog import LoopWatchdog
from ferryman.worker.parent import is_child
from ferryman.worker.poller import Poller
from ferryman.worker.processes import Processes
from ferryman.worker.settler import Settler
from ferryman.worker.signals import on_signals
from ferryman.worker.upkeep import Upkeep
from ferryman.worker.watch import Watch

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Mapping, Sequence

    from ferryman.events import Events
    from ferryman.job import Job
    from ferryman.queue.contract import Backend
    from ferryman.queue.settlement import Settlement
    from ferryman.tasks.task import Task
    from ferryman.tasks.tasks import Tasks
    from ferryman.worker.claim import Claim


Order = Literal["drain", "now"]

BATCH_PAUSE = 0.01
"""Seconds between two looks at what a batch still runs."""
READY_WITHIN = 10.0
"""Seconds of failing polls after which a worker no longer counts as ready."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A worker's numbers, in seconds. `history` None keeps finished jobs for ever.

    `patience` is how long polling may fail before the worker gives up and exits with code 1;
    `loop_patience` how long a handler may block the event loop before `loop.blocked` tells.
    """

    lease: float = 60.0
    poll_every: float = 1.0
    drain: float = 25.0
    reap_every: float = 5.0
    history: float | None = 7 * 86_400.0
    patience: float = 300.0
    loop_patience: float = 5.0


class Worker:
    """Claims jobs from `queues` (name to slots) and runs them until it is told to stop."""

    def __init__(
        self,
        backend: Backend,
        tasks: Tasks,
        queues: Mapping[str, int],
        *,
        events: Events,
        settings: Settings | None = None,
        on_start: Sequence[Callable[[], object]] = (),
        on_stop: Sequence[Callable[[], object]] = (),
        app: tuple[str, str] | None = None,
    ) -> None:
        if not queues or min(queues.values()) < 1:
            raise TaskError(
                f"a worker needs queues with at least one slot each, got {dict(queues)}"
            )
        self.id = worker_id()
        self.settings = settings or Settings()
        self.error: BaseException | None = None
        self._backend = backend
        self._tasks = tasks
        self._events = events
        self._hooks = (tuple(on_start), tuple(on_stop))
        self._stop = threading.Event()
        # What signal handlers say: `put` is the one thing that is safe inside them. An Event is
        # not, because a handler interrupts the very thread that may be holding its lock.
        self._orders: SimpleQueue[Order] = SimpleQueue()
        self._started_at = backend.clock.now()
        self._monotonic = backend.clock.monotonic
        most = MAX_SERVED if backend.capabilities.served else MAX_BUFFER
        self._lanes = {
            name: Lane(name, slots, self._start_job, self._loop_died, self._monotonic, most=most)
            for name, slots in queues.items()
        }
        self._executor = Executor(tasks, self.id)
        self._loop = EventLoopThread()
        self._processes = Processes(
            self._executor, app, backend.clock, self._events, self._loop_died
        )
        self._assemble()

    def _assemble(self) -> None:
        backend, events, died = self._backend, self._events, self._loop_died
        lease = self.settings.lease
        self._keeper = LeaseKeeper(backend, self.id, lease=lease, events=events, died=died)
        self._settler = Settler(backend, self._keeper, self._loaded, events, died)
        self._poller = Poller(
            backend,
            self._keeper,
            self._lanes,
            poll_every=self.settings.poll_every,
            give_back=self._give_back,
            events=events,
            died=died,
        )
        self._watch = Watch(
            self._lanes.values(),
            self._timed_out,
            self._give_back,
            backend.clock,
            events=events,
            died=died,
        )
        self._watchdog = LoopWatchdog(
            self._loop,
            self.id,
            patience=self.settings.loop_patience,
            job_of=self._job_of,
            events=events,
            died=died,
        )
        self._upkeep = Upkeep(
            backend,
            self.id,
            every=min(self.settings.reap_every, lease / 2),
            row_every=max(1.0, lease / 3),
            history=self.settings.history,
            row=self._row,
            events=events,
            died=died,
        )

    def run(self) -> int:
        """Work until `stop`, SIGTERM or SIGINT, then drain; 0, or 1 after a fatal error."""
        with on_signals(partial(self._orders.put, "drain"), partial(self._orders.put, "now")):
            self.start()
            while not self._stop.is_set():
                if self._ordered(1.0) is None:
                    self._check_patience()
            self._finish()
        return 0 if self.error is None else 1

    def start(self, *, polling: bool = True) -> None:
        """Begin to work in the background; `stop` and `join` end it."""
        if is_child():
            raise TaskError(
                "a child process started a worker while it imported the app: put what starts it "
                "under `if __name__ == '__main__':`"
            )
        for hook in self._hooks[0]:
            hook()
        for loop in (self._keeper, self._settler, self._upkeep, self._watch, self._watchdog):
            loop.start()
        if polling:
            self._poller.start()
        self._events.emit("worker.started", worker=self.id, queues=self._slots())

    def stop(self) -> None:
        """Ask for a drain; returns at once."""
        self._stop.set()
        self._orders.put("drain")

    def join(self) -> None:
        """Drain and end what `start` began."""
        self._stop.set()
        self._finish()

    def run_batch(self, limit: int, skip_tasks: Sequence[str] = ()) -> Batch:
        """Run at most `limit` jobs, as long as any is due, then stop; what became of them.

        Jobs that are handed over meanwhile count as due. SIGTERM and SIGINT end it early.
        """
        batch = Batch(self._events, self.id)
        with (
            batch.counting(),
            on_signals(partial(self._orders.put, "drain"), partial(self._orders.put, "now")),
        ):
            self.start(polling=False)
            try:
                self._run_some(limit, skip_tasks)
            finally:
                self.join()
        if self.error is not None:
            raise self.error
        return batch

    def _run_some(self, limit: int, skip_tasks: Sequence[str]) -> None:
        left = limit
        while not self._stop.is_set():
            # Asked before the poll: what ends in between may have handed over.
            busy = bool(self._keeper.held) or any(lane.running for lane in self._lanes.values())
            claimed = self._poller.fetch(left, skip_tasks)
            left -= sum(not claim.job.task.startswith(ENGINE) for claim in claimed)
            if not claimed:
                if not busy:
                    return
                self._ordered(BATCH_PAUSE)

    @property
    def ready(self) -> bool:
        """Whether the store answers polls, or did until a moment ago, and no drain is under way."""
        return not self._stop.is_set() and self._poller.failing_for < READY_WITHIN

    # -- one job

    def _start_job(self, claim: Claim) -> bool:
        """Run a claim; whether it is over when this returns."""
        task = self._executor.task_of(claim)
        claim.started = started = self._monotonic()
        if started > claim.trusted_until:
            # Frozen since its poll: another worker may have the job by now.
            claim.stop("lost")
        if claim.stop_reason is not None or task is None:
            give_back = self._executor.give_back if claim.stopping else self._executor.unknown
            self._end(claim, give_back(claim))
            return True
        timeout = claim.job.timeout or task.timeout
        claim.deadline = None if timeout is None else started + timeout
        if self._events.wanted("job.started"):
            self._events.emit("job.started", job=claim.job, worker=self.id)
        if task.is_async:
            claim.on_loop = True
            lane = self._lanes[claim.job.queue]
            self._loop.submit(lambda: self._run_async(claim, lane, task), claim.running_as)
            return False
        run = self._executor.run if task.process is None else self._processes.run
        self._end(claim, run(claim, task), helping=not self._backend.capabilities.served)
        return True

    async def _run_async(self, claim: Claim, lane: Lane, task: Task[..., Any]) -> None:
        try:
            self._end(claim, await self._executor.run_async(claim, task))
        except BaseException as error:
            self._loop_died("loop", error)
        finally:
            lane.finished(claim)

    def _end(self, claim: Claim, settlement: Settlement, *, helping: bool = False) -> None:
        claim.seconds = self._monotonic() - (claim.started or 0.0)
        if claim.end():
            self._settler.add(claim, settlement, helping=helping)

    def _timed_out(self, claim: Claim, lane: Lane) -> None:
        if claim.end():
            seconds = (claim.deadline or 0.0) - (claim.started or 0.0)
            self._settler.add(claim, self._executor.timed_out(claim, seconds))
            self._events.emit("job.timed_out", job=claim.job, worker=self.id, seconds=seconds)
        claim.stop("timeout")
        lane.disown(claim)
        self._processes.kill(claim)

    def _give_back(self, claim: Claim) -> None:
        if claim.end():
            self._settler.add(claim, self._executor.give_back(claim))

    # -- the end

    def _finish(self) -> None:
        deadline = self._backend.clock.monotonic() + self.settings.drain
        self._events.emit("worker.draining", worker=self.id, running=len(self._running()))
        self._poller.stop(self.settings.drain)
        for lane in self._lanes.values():
            for claim in lane.close():
                self._give_back(claim)
        # A tenth of the grace time is kept for giving back what does not end by itself.
        self._wait_for_handlers(deadline - max(0.2, self.settings.drain * 0.1))
        for claim in self._running():
            claim.stop("drain")
            self._processes.kill(claim)
            self._give_back(claim)
        self._settler.flush(max(0.2, deadline - self._backend.clock.monotonic()))
        self._close()

    def _wait_for_handlers(self, until: float) -> None:
        while self._running():
            left = until - self._backend.clock.monotonic()
            if left <= 0 or self.error is not None or self._ordered(min(0.02, left)) == "now":
                return

    def _ordered(self, timeout: float) -> Order | None:
        """The next order that comes within `timeout` seconds; any of them means to stop."""
        try:
            order = self._orders.get(timeout=timeout)
        except Empty:
            return None
        self._stop.set()
        return order

    def _close(self) -> None:
        for loop in (self._watch, self._watchdog, self._upkeep, self._settler, self._keeper):
            loop.stop(1.0)
        self._processes.close()
        self._loop.stop()
        if self.error is None:
            self._upkeep.leave()
        for hook in self._hooks[1]:
            hook()
        self._events.emit("worker.stopped", worker=self.id, error=self.error)

    def _loop_died(self, name: str, error: BaseException) -> None:
        self.error = self.error or error
        self._events.emit("worker.broken", worker=self.id, loop=name, error=error)
        self.stop()

    def _check_patience(self) -> None:
        failing = self._poller.failing_for
        if failing > self.settings.patience:
            self._loop_died("poller", TimeoutError(f"polls have failed for {failing:.0f} s"))

    # -- what others see

    def _running(self) -> Sequence[Claim]:
        return [c for lane in self._lanes.values() for c in lane.running if not c.ended]

    def _job_of(self, running: asyncio.Task[Any] | None) -> Job | None:
        claims = (c for lane in self._lanes.values() for c in lane.running)
        found = (c.job for c in claims if running is not None and c.async_task is running)
        return next(found, None)

    def _loaded(self) -> bool:
        return any(lane.waiting for lane in self._lanes.values())

    def _slots(self) -> dict[str, int]:
        return {lane.queue: lane.slots for lane in self._lanes.values()}

    def _row(self) -> Mapping[str, Any]:
        from importlib.metadata import version

        return {
            "id": self.id,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "version": version("ferryman"),
            "queues": self._slots(),
            "running": len(self._running()),
            "started_at": self._started_at,
            "heartbeat_at": self._backend.clock.now(),
            "lease": self.settings.lease,
        }
