"""One worker process: the loops that claim, run, keep, settle and tidy, put together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferryman.errors import TaskError
from ferryman.ids import worker_id
from ferryman.tasks.aio import offload
from ferryman.worker.batches import Batches
from ferryman.worker.event_loop import EventLoopThread
from ferryman.worker.feeding import Feeding
from ferryman.worker.gates import Gates
from ferryman.worker.known import known
from ferryman.worker.lane import MAX_BUFFER, MAX_SERVED, Lane
from ferryman.worker.leases import LeaseKeeper
from ferryman.worker.loop_watchdog import LoopWatchdog
from ferryman.worker.orders import Orders
from ferryman.worker.parent import is_child
from ferryman.worker.poller import Poller
from ferryman.worker.processes import Processes
from ferryman.worker.rollup import Rollup
from ferryman.worker.scheduler import Scheduler
from ferryman.worker.score import Score
from ferryman.worker.settings import Settings
from ferryman.worker.settler import Settler
from ferryman.worker.traced_executor import executor_for
from ferryman.worker.upkeep import Upkeep
from ferryman.worker.watch import Watch

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Mapping, Sequence

    from ferryman.events import Events
    from ferryman.flow.capacity import Capacities
    from ferryman.flow.flow import Flow
    from ferryman.flow.schedule import Schedule
    from ferryman.job import Job
    from ferryman.queue.contract import Backend
    from ferryman.queue.settlement import Settlement
    from ferryman.tasks.task import Task
    from ferryman.tasks.tasks import Tasks
    from ferryman.tasks.tracing import Tracing
    from ferryman.worker.claim import Claim


BATCH_PAUSE = 0.01
"""Seconds between two looks at what a batch still runs."""
READY_WITHIN = 10.0
"""Seconds of failing polls after which a worker no longer counts as ready."""


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
        flow: Flow | None = None,
        schedules: Sequence[Schedule] = (),
        capacities: Capacities | None = None,
        tracing: Tracing | None = None,
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
        self._flow = flow
        self._events = events
        self._schedules = schedules
        self._capacities = capacities
        self._hooks = (tuple(on_start), tuple(on_stop))
        self._orders = Orders()
        self._started_at = backend.clock.now()
        self._monotonic = backend.clock.monotonic
        most = MAX_SERVED if backend.capabilities.served else MAX_BUFFER
        self._lanes = {
            name: Lane(
                name,
                slots,
                self._start_job,
                self._loop_died,
                self._monotonic,
                most=most,
                batch=max(
                    (t.limits.batch or 1 for t in tasks if t.options.queue == name), default=1
                ),
            )
            for name, slots in queues.items()
        }
        self._executor = executor_for(tasks, self.id, tracing)
        self._loop = EventLoopThread()
        self._processes = Processes(
            self._executor, app, backend.clock, self._events, self._loop_died
        )
        self._assemble()

    def _assemble(self) -> None:
        backend, events, died = self._backend, self._events, self._loop_died
        lease = self.settings.lease
        self._keeper = LeaseKeeper(backend, self.id, lease=lease, events=events, died=died)
        self._gates: Gates | None = None
        if self._flow is not None and Gates.needed(self._flow, self._tasks, self._lanes):
            self._gates = Gates(
                self._flow,
                self._tasks,
                self._lanes,
                self._keeper.poll,
                backend.clock,
                worker=self.id,
                lease=lease,
                events=events,
                died=died,
            )
        settled = None if self._gates is None else self._gates.left
        rollup = Rollup(backend, self.id) if backend.capabilities.cells else None
        self._batches = Batches(
            self._executor,
            self._gates,
            self._loop,
            begin=self._begin,
            end=self._end,
            died=died,
        )
        self._settler = Settler(
            backend, self._keeper, self._loaded, events, died, settled=settled, rollup=rollup
        )
        self._poller = Poller(
            backend,
            self._keeper,
            self._lanes,
            poll_every=self.settings.poll_every,
            give_back=self._give_back,
            feeding=Feeding(backend, self._tasks, self._capacities),
            events=events,
            died=died,
            gates=self._gates,
        )
        if self._gates is not None:
            self._gates.freed = self._poller.wake
            self._gates.resume = self._resume
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
            capacities=self._capacities,
            rollup=rollup,
            events=events,
            died=died,
        )
        self._scheduler = Scheduler(backend, self._schedules, events=events, died=died)

    def run(self) -> int:
        """Work until `stop`, SIGTERM or SIGINT, then drain; 0, or 1 after a fatal error."""
        with self._orders.by_signals():
            self.start()
            while not self._orders.stopping:
                if self._orders.next(1.0) is None:
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
        if self._gates is not None:
            self._gates.start()
        if polling:
            self._poller.start()
        self._scheduler.start()
        self._events.emit("worker.started", worker=self.id, queues=self._slots())

    def stop(self) -> None:
        """Ask for a drain; returns at once."""
        self._orders.stop()

    def join(self) -> None:
        """Drain and end what `start` began."""
        self._orders.stop()
        self._finish()

    def run_batch(self, limit: int, skip_tasks: Sequence[str] = ()) -> Score:
        """Run at most `limit` jobs, as long as any is due, then stop; what became of them.

        Jobs that are handed over meanwhile count as due. SIGTERM and SIGINT end it early.
        """
        score = Score(self._events, self.id)
        with score.counting(), self._orders.by_signals():
            self.start(polling=False)
            try:
                self._poller.work_off(limit, skip_tasks, self._rest)
            finally:
                self.join()
        if self.error is not None:
            raise self.error
        return score

    @property
    def ready(self) -> bool:
        """Whether the store answers polls, or did until a moment ago, and no drain is under way."""
        return not self._orders.stopping and self._poller.failing_for < READY_WITHIN

    def _rest(self) -> bool:
        return self._orders.next(BATCH_PAUSE) is None and not self._orders.stopping

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
        if self._gates is not None:
            if (delay := self._gates.enter(claim)) is not None:
                self._end(claim, self._executor.give_back(claim, delay))
                return True
            claim.started = started = self._monotonic()
        self._begin(claim, task, started)
        if task.limits.batch is not None:
            return self._batches.start(claim, task, self._lanes[claim.job.queue])
        if task.is_async:
            claim.on_loop = True
            lane = self._lanes[claim.job.queue]
            self._loop.submit(lambda: self._run_async(claim, lane, task), claim.running_as)
            return False
        run = self._executor.run if task.process is None else self._processes.run
        settlement = run(claim, task)
        if self._gates is not None:
            settlement = self._gates.judge(claim, settlement)
        self._end(claim, settlement, helping=not self._backend.capabilities.served)
        return True

    def _begin(self, claim: Claim, task: Task[..., Any], started: float) -> None:
        timeout = claim.job.timeout or task.timeout
        claim.started = started
        claim.deadline = None if timeout is None else started + timeout
        if self._events.wanted("job.started"):
            self._events.emit("job.started", job=claim.job, worker=self.id)

    async def _run_async(self, claim: Claim, lane: Lane, task: Task[..., Any]) -> None:
        try:
            settlement = await self._executor.run_async(claim, task)
            if self._gates is not None:
                settlement = await offload(self._gates.judge, claim, settlement)
            self._end(claim, settlement)
        except BaseException as error:
            self._loop_died("loop", error)
        finally:
            lane.finished(claim)

    def _end(self, claim: Claim, settlement: Settlement, *, helping: bool = False) -> None:
        claim.seconds = self._monotonic() - (claim.started or 0.0)
        if claim.end():
            self._settler.add(claim, settlement, helping=helping)

    def _timed_out(self, claim: Claim, lane: Lane) -> None:
        seconds = (claim.deadline or 0.0) - (claim.started or 0.0)
        settlement = self._executor.timed_out(claim, seconds)
        if self._gates is not None:
            settlement = self._gates.judge(claim, settlement)
        if claim.end():
            claim.seconds = seconds
            self._settler.add(claim, settlement)
            self._events.emit("job.timed_out", job=claim.job, worker=self.id, seconds=seconds)
        claim.stop("timeout")
        lane.disown(claim)
        self._processes.kill(claim)

    def _resume(self, claim: Claim) -> None:
        for late in self._lanes[claim.job.queue].add([claim]):
            self._give_back(late)

    def _give_back(self, claim: Claim) -> None:
        if claim.end():
            self._settler.add(claim, self._executor.give_back(claim))

    # -- the end

    def _finish(self) -> None:
        deadline = self._backend.clock.monotonic() + self.settings.drain
        self._events.emit("worker.draining", worker=self.id, running=len(self._running()))
        self._scheduler.stop(self.settings.drain)
        self._poller.stop(self.settings.drain)
        for lane in self._lanes.values():
            for claim in lane.close():
                self._give_back(claim)
        for claim in () if self._gates is None else self._gates.waiting:
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
            if left <= 0 or self.error is not None or self._orders.next(min(0.02, left)) == "now":
                return

    def _close(self) -> None:
        for loop in (self._watch, self._watchdog, self._upkeep, self._settler, self._keeper):
            loop.stop(1.0)
        if self._gates is not None:
            self._gates.stop(1.0)
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
        return {
            "id": self.id,
            **known(self._tasks, self._flow, self._capacities),
            "queues": self._slots(),
            "running": len(self._running()),
            "started_at": self._started_at,
            "heartbeat_at": self._backend.clock.now(),
            "lease": self.settings.lease,
        }
