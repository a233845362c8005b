"""The limits of a worker's tasks and queues, around its polls, its starts and its ends."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from ferryman.errors import BackendError, BackendUnavailable, FerrymanError
from ferryman.flow.gate import BreakerGate, PermitGate, RateGate
from ferryman.flow.line_gate import LineGate
from ferryman.lifecycle import Verdict
from ferryman.tasks.passage import is_errand
from ferryman.worker.loop import Loop

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from ferryman.clock import Clock
    from ferryman.events import Events
    from ferryman.flow.failure import Failure
    from ferryman.flow.flow import Flow
    from ferryman.flow.gate import Claimed, Gate
    from ferryman.queue.settlement import Settlement
    from ferryman.tasks.limits import Limits
    from ferryman.tasks.tasks import Tasks
    from ferryman.worker.claim import Claim
    from ferryman.worker.lane import Lane

HELD_FOR = 1.5
"""Leases for which permits and probes are held. They are prolonged every third of a lease, so this
outlasts every lease that was prolonged in between."""

LOOK_EVERY = 0.05
"""Seconds between two looks at lines in which claims of this worker wait for those of others."""


class Gates(Loop):
    """Claims only what may run. Jobs under a limit are claimed for free slots, never buffered.

    On its own thread it prolongs what is held.
    """

    name = "gates"

    def __init__(
        self,
        flow: Flow,
        tasks: Tasks,
        lanes: Mapping[str, Lane],
        poll: Callable[[Mapping[str, int], Sequence[str]], Sequence[Claim]],
        clock: Clock,
        *,
        worker: str,
        lease: float,
        events: Events,
        died: Callable[[str, BaseException], None],
    ) -> None:
        super().__init__(events, died)
        self._flow = flow
        self._lanes = lanes
        self._poll = poll
        self._clock = clock
        self._worker = worker
        self._lease = lease
        self._known: dict[object, Gate] = {}
        self._tasks = {
            task.name: self._gates_of(f"task:{task.name}", task.limits)
            for task in tasks
            if task.limits.holding
        }
        self._queues = {
            queue: self._gates_of(f"queue:{queue}", limits)
            for queue, limits in flow.queues.items()
            if queue in lanes
        }
        self._homes = {task.name: task.options.queue for task in tasks if task.name in self._tasks}
        self._shut: set[Gate] = set()
        self.withheld: Collection[str] = ()
        """The queues whose jobs were left alone, at least in part, at the last poll."""
        self._lines = [gate for gate in self._known.values() if isinstance(gate, LineGate)]
        self._next_keep = 0.0
        self.freed: Callable[[], None] = lambda: None
        self.resume: Callable[[Claim], None] = lambda _: None
        """Runs a claim that waited in a line."""

    @staticmethod
    def needed(flow: Flow, tasks: Tasks, queues: Collection[str]) -> bool:
        """Whether anything is limited that a worker of these queues runs; else it pays nothing."""
        limited = any(task.limits.holding for task in tasks)
        return limited or any(queue in flow.queues for queue in queues)

    # -- claiming

    def poll(
        self, rooms: Mapping[str, int], skip_tasks: Sequence[str] = (), *, idle: bool
    ) -> Sequence[Claim]:
        """Claim what may run. `idle`: nothing seems to wait, so nothing is reserved in advance;
        what is found all the same has to pass when it starts."""
        free = {queue: min(room, self._lanes[queue].free) for queue, room in rooms.items()}
        rooms, passes, shut = self._look(rooms, free, idle)
        try:
            claims = self._claim(rooms, free, passes, shut.union(skip_tasks))
        finally:
            self._trim()
        if not self._lines:
            return claims
        free_claims = [c for c in claims if not any(line.stands(c) for line in self._lines)]
        for line in self._lines:
            self._hand_over(line)
        return free_claims

    def pause(self, longest: float) -> float:
        """Seconds until a gate that was shut may open, at most `longest`."""
        now = self._clock.now()
        # A lane's thread may be polling meanwhile, hence the copy.
        moments = [gate.opens_at for gate in tuple(self._shut) if gate.opens_at is not None]
        return min([longest, *(max(0.002, moment - now) for moment in moments if moment > now)])

    def _look(
        self, rooms: Mapping[str, int], free: Mapping[str, int], idle: bool
    ) -> tuple[dict[str, int], dict[Gate, int], set[str]]:
        """The rooms that queues leave, what each gate lets pass, and the tasks that are shut."""
        self._shut = set()
        passes: dict[Gate, int] = {}
        open_rooms: dict[str, int] = {}
        for queue, room in rooms.items():
            gates = self._queues.get(queue, ())
            most = self._most(gates, free[queue], passes, idle) if gates else room
            if most:
                open_rooms[queue] = most
        want = sum(free[queue] for queue in open_rooms)
        shut = {
            task for task, gates in self._tasks.items() if not self._most(gates, want, passes, idle)
        }
        closed = {self._homes[task] for task in shut} if want else set()
        self.withheld = closed | (rooms.keys() - open_rooms.keys())
        return open_rooms, passes, shut

    def _most(self, gates: Sequence[Gate], want: int, passes: dict[Gate, int], idle: bool) -> int:
        """How many jobs may pass all these gates; what is reserved stays so until the trim."""
        most = want
        for gate in gates:
            most = min(most, passes[gate] if gate in passes else gate.look(want))
            if most == 0:
                if want:
                    self._shut.add(gate)
                return 0
        for gate in gates:
            if gate not in passes:
                passes[gate] = gate.reserve(most) if gate.always or not idle else 1
            most = min(most, passes[gate])
            if most == 0:
                self._shut.add(gate)  # another worker was quicker
                return 0
        return most

    def _claim(
        self,
        rooms: Mapping[str, int],
        free: Mapping[str, int],
        passes: dict[Gate, int],
        shut: set[str],
    ) -> list[Claim]:
        claims: list[Claim] = []
        for queue, room in rooms.items():
            gates = {g for task in self._tasks.keys() - shut for g in self._tasks[task]}
            gates.update(self._queues.get(queue, ()))
            narrow = min([free[queue] if gates else room, *(passes[gate] for gate in gates)])
            skipped = shut if narrow else shut | self._tasks.keys()
            first = min(room, narrow) or room
            try:
                got = self._polled(queue, first, skipped, passes)
                claims += got
                if narrow and len(got) == first < room and queue not in self._queues:
                    # The line goes on, and some of it may be of tasks without limits.
                    claims += self._polled(queue, room - first, self._tasks.keys(), passes)
            except BackendUnavailable:
                if not claims:
                    raise
                break  # what was claimed has to run
        return claims

    def _polled(
        self, queue: str, limit: int, skipped: Collection[str], passes: dict[Gate, int]
    ) -> Sequence[Claim]:
        claims = self._poll({queue: limit}, sorted(skipped))
        for claim in claims:
            for gate in self._of(claim):
                passes[gate] = passes.get(gate, 0) - 1
                gate.bind(claim)
        return claims

    # -- starting and ending

    def enter(self, claim: Claim) -> float | None:
        """The last look before the handler: None: run; else seconds until it may be tried."""
        try:
            for gate in self._of(claim):
                if (seconds := gate.enter(claim)) is not None:
                    return seconds
        except BackendError:
            return 0.0
        return None

    def judge(self, claim: Claim, settlement: Settlement, *, again: bool = False) -> Settlement:
        """Tell the breakers how a claim ended, and whether that is its job's fault.

        A failure that counts against a breaker is charged only if the dependency has worked since
        the job's failure before. Else it is given back: it may be the dependency's. `again`: it is
        the failure of a call that was told already, for another job.
        """
        gates = () if claim.ended else self._of(claim)
        excused = False
        for gate in gates:
            with suppress(BackendError):  # what is lost with the store does no harm
                if isinstance(gate, BreakerGate):
                    well = settlement.verdict is Verdict.ACK
                    excused = gate.tell(claim, claim.failure, well=well, again=again) or excused
                elif isinstance(gate, RateGate):
                    _postpone(gate, claim.failure)
        if excused and settlement.verdict is Verdict.NACK:
            return replace(settlement, verdict=Verdict.GIVE_BACK)
        return settlement

    def left(self, claims: Iterable[Claim]) -> None:
        """These claims are settled."""
        limited = False
        for claim in claims:
            for gate in self._of(claim):
                gate.leave(claim)
                limited = True
        if limited:
            self.freed()
            if self._lines:
                self.wake()

    def turn(self) -> float:
        now = self._clock.monotonic()
        if now >= self._next_keep:
            for gate in self._known.values():
                gate.keep()
            self._next_keep = now + self._lease / 3
        for line in self._lines:
            self._advance(line)
        waiting = any(line.waiting for line in self._lines)
        return LOOK_EVERY if waiting else max(0.0, self._next_keep - self._clock.monotonic())

    @property
    def waiting(self) -> Sequence[Claim]:
        """Claims that stand in lines."""
        return [cast("Claim", claim) for line in self._lines for claim in line.waiting]

    def _advance(self, line: LineGate) -> None:
        """See who may run now; whoever was asked to stop need not wait for that."""
        line.advance()
        for claim in self.waiting:
            if claim.stopping:
                line.release(claim)
        self._hand_over(line)

    def _hand_over(self, line: LineGate) -> None:
        # Not ahead: what waits too long in a lane is given back, and loses its place.
        while (claim := line.admitted(self._fits)) is not None:
            self.resume(cast("Claim", claim))

    def _fits(self, claim: Claimed) -> bool:
        return self._lanes[claim.job.queue].free > 0

    def stop(self, timeout: float | None = None) -> None:
        """No more prolonging; what is not held by a claim is returned."""
        super().stop(timeout)
        self._trim()

    def _trim(self) -> None:
        for gate in self._known.values():
            # In an outage what is set aside expires by itself, and what was claimed has to run.
            with suppress(BackendError):
                gate.trim()

    # -- which gates

    def _of(self, claim: Claim) -> Sequence[Gate]:
        job = claim.job
        own, queue = self._tasks.get(job.task, ()), self._queues.get(job.queue, ())
        # The engine's own jobs look and wait: a queue's limits are for what its users do.
        return [*queue, *own] if queue and not is_errand(job.task) else own

    def _gates_of(self, owner: str, limits: Limits) -> Sequence[Gate]:
        """Breakers first, which cost only a look; the rate last, whose grants do not keep."""
        keep_for = self._lease * HELD_FOR
        gates: list[Gate] = []
        for breaker in map(self._flow.breaker, limits.needs):
            breaker.check()
            gates.append(self._once(breaker, partial(BreakerGate, breaker, keep_for)))
        if limits.concurrency is not None and limits.per is not None:
            lines = self._flow.lines(owner, limits.concurrency, self._worker)
            gates.append(self._once(lines, partial(LineGate, lines, limits.value_of, keep_for)))
        elif limits.concurrency is not None:
            permits = self._flow.permits(owner, limits.concurrency, self._worker)
            gates.append(self._once(permits, partial(PermitGate, permits, keep_for)))
        if (rate := self._flow.rate_of(owner, limits)) is not None:
            gates.append(self._once(rate, partial(RateGate, rate, self._rest)))
        return gates

    def _once(self, key: object, make: Callable[..., Gate]) -> Gate:
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    def _rest(self, seconds: float) -> bool:
        """Wait on a lane's thread; False: the worker is stopping."""
        return not self._stopping.wait(seconds)


def _postpone(gate: RateGate, failure: Failure | None) -> None:
    """A service that said when to come again said it to all."""
    if failure is None or failure.retry_after is None or failure.is_a((FerrymanError,)):
        return
    gate.rate.postpone(failure.retry_after)
