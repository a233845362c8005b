"""The contract as a small model: told each call and its answer, it checks, then adopts it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ferryman.errors import NotAllowed
from ferryman.job import TERMINAL, WAITING, State
from ferryman.lifecycle import Act, Verdict, act
from ferryman.testing.expected import TOLERANCE, Expected

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from ferryman.clock import Clock
    from ferryman.job import Job
    from ferryman.message import Message
    from ferryman.queue.answers import Acted, Cell, Page, Pushed, Reaped, Snapshot
    from ferryman.queue.capabilities import Capabilities
    from ferryman.queue.heartbeat import Beat, Pulse
    from ferryman.queue.settlement import Receipt, Settlement


class Model:
    """Says of each answer of a backend whether the contract allows it.

    Every verb has a method of the same name that takes the arguments of the call and the answer.
    Where the contract leaves a choice (jitter, ties, order on some backends) the choice of the
    backend is adopted. `look` is the backend's `get`. A forbidden answer is an AssertionError.
    """

    def __init__(
        self, clock: Clock, capabilities: Capabilities, look: Callable[[str], Job | None]
    ) -> None:
        self.jobs: dict[str, Expected] = {}
        self.paused: set[str] = set()
        self.cells: dict[str, Cell] = {}
        self.versions: dict[str, int] = {}
        self.touched: set[str] = set()
        self._clock = clock
        self._order = capabilities.order
        self._look = look
        self._pushes = 0

    # -- producers and workers

    def push(self, messages: Sequence[Message], answer: Sequence[Pushed]) -> None:
        """Each message in order: the id decides, then the key."""
        assert len(answer) == len(messages), "push answers each message"
        for message, pushed in zip(messages, answer, strict=True):
            allowed = self._outcomes(message)
            assert (pushed.status, pushed.id) in allowed, (
                f"push of {message!r} answered {pushed}, allowed: {sorted(allowed)}"
            )
            self._accept(message, pushed.status, pushed.id)

    def is_new(self, message: Message) -> bool:
        """Whether a push may make a job of its own of this message."""
        return ("created", message.id) in self._outcomes(message)

    def poll(
        self,
        worker: str,
        queues: Mapping[str, int],
        answer: Sequence[Job],
        *,
        lease: float,
        turn: int,
        skip_tasks: Collection[str],
    ) -> None:
        """The due jobs of each queue, in order, each claimed once."""
        assert len({job.id for job in answer}) == len(answer), "a poll claims each job once"
        assert {job.queue for job in answer} <= queues.keys(), "claims come from the named queues"
        now = self._clock.now()
        for queue, limit in queues.items():
            claimed = [job.id for job in answer if job.queue == queue]
            self._check_order(claimed, self._due(queue, skip_tasks), limit)
        for job in answer:
            entry = self._touch(job.id)
            entry.claim(worker, turn, now, now + lease)
            entry.compare(job, whole=False)

    def heartbeat(
        self,
        worker: str,
        beats: Sequence[Beat],
        answer: Sequence[Pulse],
        *,
        lease: float,
        answered: int,
    ) -> None:
        """Current claims are prolonged; unlisted ones of answered polls are given back."""
        now = self._clock.now()
        for beat, pulse in zip(beats, answer, strict=True):
            entry = self._current(beat.job_id, beat.fence, worker)
            held = entry is not None
            asked = entry.asked if entry is not None else None
            assert (pulse.job_id, pulse.fence) == (beat.job_id, beat.fence)
            assert (pulse.held, pulse.asked) == (held, asked), f"{beat} answered {pulse}"
            if entry is not None:
                entry.heartbeat_at, entry.expires_at = now, now + lease
                entry.report(beat.percent, beat.note, beat.logs)
                if beat.checkpoint is not None:
                    entry.stored_checkpoint = beat.checkpoint
        listed = {(beat.job_id, beat.fence) for beat in beats}
        for entry in self._in(State.PROCESSING):
            lost = entry.worker == worker and entry.turn <= answered
            if lost and (entry.id, entry.fence) not in listed:
                self._touch(entry.id).end(Verdict.GIVE_BACK, None, now)

    def settle(self, settlements: Sequence[Settlement], answer: Sequence[Receipt]) -> None:
        """Current claims end; the same settlement again is applied; every other is refused."""
        now = self._clock.now()
        for settlement, receipt in zip(settlements, answer, strict=True):
            assert receipt.job_id == settlement.job_id
            entry = self._current(settlement.job_id, settlement.fence, settlement.worker)
            if entry is None:
                known = self.jobs.get(settlement.job_id)
                again = known is not None and known.settled == settlement.mark
                assert receipt.applied is again, f"{settlement} answered {receipt}"
                continue
            hands_over = entry.settle(settlement, now)
            for child in settlement.children if hands_over else ():
                self._accept(child, *min(self._outcomes(child)))
            assert (receipt.applied, receipt.state) == (True, entry.state), (
                f"{settlement} answered {receipt}, the job is {entry.state}"
            )

    def reap(self, limit: int, answer: Sequence[Reaped]) -> None:
        """Expired leases end, late waiting jobs are cancelled, the oldest of each first."""
        now = self._clock.now()
        leases = {e.id: e.expires_at or 0.0 for e in self._in(State.PROCESSING)}
        leases = {job_id: at for job_id, at in leases.items() if at <= now}
        deadlines = {e.id: e.deadline for e in self._in(*WAITING) if e.deadline is not None}
        late = {job_id: at for job_id, at in deadlines.items() if at <= now}
        ended: list[str] = []
        cancelled: list[str] = []
        for reaped in answer:
            entry = self._touch(reaped.id)
            assert (reaped.queue, reaped.task) == (entry.queue, entry.task)
            if entry.state is State.PROCESSING:
                assert reaped.worker == entry.worker
                ended.append(entry.id)
                entry.end_lease(now)
            else:
                # A reap may also cancel a job that it returned to its queue a moment before.
                assert entry.deadline is not None, f"{reaped} has no lease and no deadline"
                late.setdefault(entry.id, entry.deadline)
                cancelled.append(entry.id)
                entry.end_late(now)
            assert reaped.state == entry.state, f"{reaped} should be {entry.state}"
        _check_oldest("leases", ended, leases, limit)
        _check_oldest("late jobs", cancelled, late, limit)

    def wait(self, queues: Collection[str], answer: bool) -> None:
        """A claimable job is never waited for; a false alarm is allowed."""
        if any(self._due(queue, ()) for queue in queues):
            assert answer, f"wait({queues}) did not see a claimable job"

    # -- operators

    def act(self, verb: Act, ids: Sequence[str], answer: Sequence[Acted]) -> None:
        """cancel, pause, resume, retry or delete of each job in order."""
        for job_id, acted in zip(ids, answer, strict=True):
            entry = self.jobs.get(job_id)
            if entry is None:
                assert (acted.id, acted.state) == (job_id, None), f"{acted}: there is no such job"
                continue
            after = self._after(verb, entry)
            if after is None:
                assert acted.refused, f"{verb} of a job that is {entry.state}: {acted}"
                assert (acted.id, acted.state) == (job_id, entry.state), f"{acted}"
                continue
            assert (acted.id, acted.state, acted.refused) == (job_id, after, None), f"{acted}"
            self._touch(job_id).act(verb, after, self._clock.now())
            if verb is Act.DELETE:
                del self.jobs[job_id]

    def restore(self, jobs: Sequence[Job], answer: Sequence[Pushed]) -> None:
        """Each job in order: the id decides, then the key that an unfinished one needs."""
        for job, restored in zip(jobs, answer, strict=True):
            arrived = Expected.of(job, self._pushes + 1, self._clock.now())
            known = self.jobs.get(job.id)
            if known is not None:
                status = "existing" if arrived.same_work(known) else "conflict"
            else:
                taken = arrived.state not in TERMINAL and self._key_is_held(arrived)
                status = "conflict" if taken else "created"
            assert (restored.id, restored.status) == (job.id, status), f"{job}: {restored}"
            self.touched.add(job.id)
            if status == "created":
                self._pushes += 1
                self.jobs[job.id] = arrived

    def purge(self, queue: str, answer: int) -> None:
        """Waiting jobs of the queue are gone."""
        gone = [entry.id for entry in self._in(*WAITING) if entry.queue == queue]
        assert answer == len(gone), f"purge deleted {answer}, waiting were {gone}"
        for job_id in gone:
            del self.jobs[job_id]

    def prune(
        self,
        answer: int,
        *,
        older_than: float,
        states: Collection[State],
        keep: int | None,
        limit: int,
    ) -> None:
        """The oldest finished jobs are gone, whichever of equal age."""
        finished = {e.id: e.finished_at or 0.0 for e in self._in(*(states or TERMINAL))}
        old = {i: at for i, at in finished.items() if at < self._clock.now() - older_than}
        gone = [job_id for job_id in old if self._look(job_id) is None]
        assert answer == len(gone), f"prune says {answer}, gone are {gone}"
        spared = max(0, len(finished) - (keep or 0))
        _check_oldest("finished jobs", gone, old, min(limit, spared))
        for job_id in gone:
            del self.jobs[job_id]

    def write_cell(
        self, key: str, value: str | None, answer: Cell | None, *, expect: int | None, ttl: float
    ) -> None:
        """Compare-and-set with versions that only grow."""
        cell = self._cell(key)
        if expect is not None and expect != self.version(key):
            assert answer is None, f"cell {key!r} was written against version {expect}: {answer}"
        elif value is None:
            assert (answer is None) == (cell is None), f"the deleted cell is the answer: {answer}"
            self.cells.pop(key, None)
        else:
            last = self.versions.get(key, 0)
            assert answer is not None, f"cell {key!r} was not written"
            assert (answer.key, answer.value) == (key, value)
            assert answer.version > last, f"versions only grow: {answer} after {last}"
            assert last or answer.version == 1, f"the first version is 1: {answer}"
            assert abs((answer.expires_at or 0.0) - self._clock.now() - ttl) <= TOLERANCE
            self.cells[key], self.versions[key] = answer, answer.version

    # -- questions of the machine

    def allows(self, verb: Act, job_id: str) -> bool:
        """Whether an operator may do this to a job that exists."""
        return self._after(verb, self.jobs[job_id]) is not None

    def version(self, key: str) -> int:
        """The version of a cell, 0 if it is not there."""
        cell = self._cell(key)
        return 0 if cell is None else cell.version

    # -- what must hold between two calls

    def check_page(self, page: Page) -> None:
        """A page of everything is every job, newest push first, each as expected."""
        newest_first = sorted(self.jobs.values(), key=lambda entry: -entry.order)
        assert [job.id for job in page.jobs] == [entry.id for entry in newest_first]
        for job, entry in zip(page.jobs, newest_first, strict=True):
            entry.compare(job, whole=False)

    def check_touched(self) -> None:
        """Whatever the last call was about, in full, with errors and logs."""
        for job_id in sorted(self.touched):
            job, entry = self._look(job_id), self.jobs.get(job_id)
            assert (job is None) == (entry is None), f"job {job_id!r}: {job}, expected {entry}"
            if job is not None and entry is not None:
                entry.compare(job, whole=True)
        self.touched.clear()

    def check_snapshot(self, snapshot: Snapshot) -> None:
        """The counters equal a recount."""
        now = self._clock.now()
        states = Counter((e.queue, e.state) for e in self.jobs.values())
        ahead = Counter(e.queue for e in self._in(State.PENDING) if e.ready_at > now)
        assert self.paused <= snapshot.queues.keys(), "paused queues are always listed"
        for queue in {entry.queue for entry in self.jobs.values()} | snapshot.queues.keys():
            counts = snapshot.queues.get(queue)
            assert counts is not None, f"queue {queue!r} has jobs and is not in the snapshot"
            seen = {state: counts.states.get(state, 0) for state in State}
            assert seen == {state: states[queue, state] for state in State}, f"{counts}"
            assert (counts.scheduled, counts.paused) == (ahead[queue], queue in self.paused)

    def check_cells(self, prefix: str, cells: Sequence[Cell]) -> None:
        """Living cells with the prefix, by key."""
        keys = sorted(key for key in self.cells if key.startswith(prefix))
        assert [*cells] == [cell for key in keys if (cell := self._cell(key)) is not None]

    # -- the rules

    def _outcomes(self, message: Message) -> set[tuple[str, str]]:
        entry = self.jobs.get(message.id)
        if entry is not None:
            if message.same_work(entry.queue, entry.task, entry.version, entry.body):
                return {("existing", entry.id)}
            if not message.replace or entry.state not in WAITING:
                return {("conflict", entry.id)}
            return {("replaced", entry.id)}
        holders = {("existing", e.id) for e in self.jobs.values() if self._forbids(e, message)}
        if message.unique == "replace":
            holders = {("replaced", job_id) for _, job_id in holders}
        return holders or {("created", message.id)}

    def _forbids(self, entry: Expected, message: Message) -> bool:
        if message.key is None or (entry.queue, entry.key) != (message.queue, message.key):
            return False
        if message.unique == "unfinished":
            return entry.state not in TERMINAL
        if isinstance(message.unique, str):
            return entry.state in WAITING
        return entry.created_at > self._clock.now() - message.unique

    def _accept(self, message: Message, status: str, job_id: str) -> None:
        self.touched.add(job_id)
        if status == "created":
            self._pushes += 1
            self.jobs[job_id] = Expected(job_id, self._pushes, self._clock.now())
        if status in ("created", "replaced"):
            self.jobs[job_id].adopt(message, self._clock.now())
            self.jobs[job_id].start_anew()

    def _due(self, queue: str, skip_tasks: Collection[str]) -> list[Expected]:
        now = self._clock.now()
        due = [
            entry
            for entry in self._in(State.PENDING)
            if entry.queue == queue
            and queue not in self.paused
            and entry.task not in skip_tasks
            and entry.ready_at <= now
            and (entry.deadline is None or entry.deadline > now)
        ]
        return sorted(due, key=_place)

    def _check_order(self, claimed: list[str], due: list[Expected], limit: int) -> None:
        exact = [entry.id for entry in due][: max(0, limit)]
        if self._order in ("strict", "strict per claim"):
            # Which tenant's turn it is depends on more than the model knows.
            places = {e.id: e.id if e.tenant is None else str(e.priority) for e in due}
            seen = [places.get(job_id) for job_id in claimed]
            assert seen == [places[job_id] for job_id in exact], (
                f"claimed {claimed}, due in order were {exact}"
            )
            return
        priorities = {entry.id: entry.priority for entry in due}
        assert {*claimed} <= priorities.keys(), f"{claimed} are not all due: {priorities}"
        assert len(claimed) <= len(exact), f"claimed {claimed}, the limit was {limit}"
        if self._order == "windowed":
            assert claimed or not exact, f"nothing was claimed, due were {exact}"
            best = [priorities[job_id] for job_id in exact[: len(claimed)]]
            assert [priorities[job_id] for job_id in claimed] == best, "best priority first"

    def _after(self, verb: Act, entry: Expected) -> State | None:
        if verb is Act.RETRY and self._key_is_held(entry):
            return None
        try:
            return act(entry.state, verb, entry.id)
        except NotAllowed:
            return None

    def _key_is_held(self, entry: Expected) -> bool:
        return entry.key is not None and any(
            (other.queue, other.key) == (entry.queue, entry.key)
            and other.state not in TERMINAL
            and other.id != entry.id
            for other in self.jobs.values()
        )

    def _current(self, job_id: str, fence: int, worker: str) -> Expected | None:
        self.touched.add(job_id)
        entry = self.jobs.get(job_id)
        if entry is None or entry.state is not State.PROCESSING:
            return None
        return entry if (entry.fence, entry.worker) == (fence, worker) else None

    def _cell(self, key: str) -> Cell | None:
        cell = self.cells.get(key)
        alive = cell is not None and (cell.expires_at or 0.0) > self._clock.now()
        return cell if alive else None

    def _in(self, *states: State) -> list[Expected]:
        return [entry for entry in self.jobs.values() if entry.state in states]

    def _touch(self, job_id: str) -> Expected:
        self.touched.add(job_id)
        assert job_id in self.jobs, f"job {job_id!r} was answered and does not exist"
        return self.jobs[job_id]


def _place(entry: Expected) -> tuple[int, bool, float, int]:
    """The promised order within a queue, but for the turns of tenants."""
    return -entry.priority, entry.tenant is not None, entry.ready_at, entry.order


def _check_oldest(what: str, chosen: list[str], ages: Mapping[str, float], limit: int) -> None:
    """As many as there are, at most `limit`, and none that is younger than one left over."""
    assert {*chosen} <= ages.keys(), f"{what}: {chosen} are not all past their time: {ages}"
    assert len(chosen) == min(limit, len(ages)), f"{what}: {chosen} of {ages}, limit {limit}"
    left = [age for job_id, age in ages.items() if job_id not in chosen]
    newest = max((ages[job_id] for job_id in chosen), default=0.0)
    assert not left or newest <= min(left), f"{what}: {chosen} are not the oldest of {ages}"
