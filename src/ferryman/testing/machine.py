"""Random sequences of verbs through any backend, each answer checked by the model.

from ferryman.testing.machine import check_backend

def test_my_backend_keeps_the_contract(tmp_path):
    check_backend(lambda clock: MyBackend(tmp_path / uuid4().hex, clock))
"""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle
from typing import TYPE_CHECKING, Any, ClassVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from ferryman.filter import Filter
from ferryman.job import TERMINAL, State
from ferryman.lifecycle import Act
from ferryman.queue.capacity import Limit
from ferryman.queue.heartbeat import Beat
from ferryman.testing import strategies as draw
from ferryman.testing.clock import FakeClock
from ferryman.testing.model import Model

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman.clock import Clock
    from ferryman.job import Job
    from ferryman.message import Message
    from ferryman.queue.contract import Backend
    from ferryman.queue.settlement import Settlement
    from ferryman.testing.strategies import Ending


def check_backend(
    make: Callable[[Clock], Backend], *, examples: int = 150, steps: int = 30, **options: Any
) -> None:
    """Run the machine; an answer that the contract forbids is an AssertionError.

    `make` gets a clock and returns a new, empty store. It must be able to `get` and `list` jobs
    and count exactly (`Capabilities.browse`, `exact_counts`) and read the time from that clock.
    `options` are further Hypothesis settings.
    """
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        print_blob=True,
        # A store is opened for each example, and filling it takes a few rules: slow by nature.
        suppress_health_check=[HealthCheck.too_slow],
        **options,
    )
    machine = type("Machine", (BackendMachine,), {"make": staticmethod(make)})
    run_state_machine_as_test(machine, settings=chosen)


class BackendMachine(RuleBasedStateMachine):
    """Every verb as a rule. Two workers, two queues and ten ids, so that they get in each other's
    way; polls whose reply is lost; settlements that come late, twice or with an old fence.
    """

    make: ClassVar[Callable[[Clock], Backend]]

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.backend = type(self).make(self.clock)
        self.model = Model(self.clock, self.backend.capabilities, self.backend.get)
        self.pushed: list[Message] = []
        self.settled: list[Settlement] = []
        self.claims: list[Job] = []
        self.taken: list[Job] = []
        self.turn = 0
        self.seen: dict[str, Job] = {}

    def teardown(self) -> None:
        self.backend.close()

    # -- producers and workers

    @initialize(messages=st.lists(draw.messages(), min_size=4, max_size=8))
    def start(self, messages: list[Message]) -> None:
        self.push(messages)

    @rule(
        messages=st.lists(draw.messages(), min_size=1, max_size=4),
        capacity=st.sampled_from((None, None, 2, 6)),
    )
    def push(self, messages: list[Message], capacity: int | None = None) -> None:
        if not self.backend.capabilities.tenants:
            messages = [replace(message, tenant=None) for message in messages]
        if capacity is not None:
            for message in messages:
                self._push_within(message, capacity)
            return
        self.model.push(messages, self.backend.push(messages))
        self.pushed += messages

    def _push_within(self, message: Message, capacity: int) -> None:
        waiting = [e for e in self.model.jobs.values() if e.state is State.PENDING]
        fits = sum(e.queue == message.queue for e in waiting) < capacity
        limits = {message.queue: Limit(capacity)}
        [pushed] = self.backend.push([message], limits=limits)
        if pushed.status == "full":
            assert self.model.is_new(message), f"{message} is there already, yet was refused"
            assert not fits, f"{message} was refused with less than {capacity} pending"
            return
        assert fits or not pushed.created, f"{message} was accepted beyond {capacity} pending"
        self.model.push([message], [pushed])
        self.pushed.append(message)

    @precondition(lambda self: self.pushed)
    @rule(pick=draw.picks)
    def push_again(self, pick: int) -> None:
        message = self.pushed[-1 - pick % len(self.pushed)]
        self.model.push([message], self.backend.push([message]))

    @rule(
        worker=draw.workers,
        queues=draw.polled,
        lease=draw.leases,
        skip=draw.skipped_tasks,
        reply_is_lost=draw.rarely,
    )
    def poll(
        self,
        worker: str,
        queues: dict[str, int],
        lease: float,
        skip: set[str],
        reply_is_lost: bool,
    ) -> None:
        self.turn += 1
        jobs = self.backend.poll(worker, queues, lease=lease, turn=self.turn, skip_tasks=skip)
        self.model.poll(worker, queues, jobs, lease=lease, turn=self.turn, skip_tasks=skip)
        if not reply_is_lost:
            self.claims += jobs

    @rule(
        worker=draw.workers,
        lease=draw.leases,
        listed=st.integers(0, 10),
        answered=st.booleans(),
        percent=draw.maybe_percent,
        note=draw.maybe_note,
        checkpoint=draw.maybe_json,
        logs=draw.logs,
    )
    def heartbeat(
        self, worker: str, lease: float, listed: int, answered: bool, **news: Any
    ) -> None:
        """The latest claims of a worker, some of which are long over; the rest is given back."""
        news["logs"] = tuple(news["logs"])
        mine = [job for job in self.claims if job.worker == worker]
        beats = [Beat(job.id, job.fence, **news) for job in mine[::-1][:listed]]
        turn = self.turn if answered else -1
        pulses = self.backend.heartbeat(worker, beats, lease=lease, answered=turn)
        self.model.heartbeat(worker, beats, pulses, lease=lease, answered=turn)

    @precondition(lambda self: self.claims)
    @rule(endings=st.lists(st.tuples(draw.picks, draw.endings), min_size=1, max_size=3))
    def settle(self, endings: list[tuple[int, Ending]]) -> None:
        claims = self.claims
        self._settle([(claims[-1 - pick % len(claims)], ending) for pick, ending in endings])

    @rule(
        worker=draw.workers,
        lease=draw.leases,
        endings=st.lists(draw.endings, min_size=1, max_size=3),
    )
    def work(self, worker: str, lease: float, endings: list[Ending]) -> None:
        """What workers do most of the time: claim, then settle what they got."""
        self.turn += 1
        queues = dict.fromkeys(draw.QUEUES, 4)
        jobs = self.backend.poll(worker, queues, lease=lease, turn=self.turn)
        self.model.poll(worker, queues, jobs, lease=lease, turn=self.turn, skip_tasks=())
        self.claims += jobs
        self._settle(list(zip(jobs, cycle(endings), strict=False)))

    @precondition(lambda self: self.settled)
    @rule(pick=draw.picks)
    def settle_again(self, pick: int) -> None:
        settlement = self.settled[-1 - pick % len(self.settled)]
        self.model.settle([settlement], self.backend.settle([settlement]))

    @rule(seconds=draw.steps, limit=draw.limits)
    def reap(self, seconds: float, limit: int) -> None:
        self.clock.advance(seconds)
        self.model.reap(limit, self.backend.reap(limit))

    @rule(seconds=draw.steps)
    def time_passes(self, seconds: float) -> None:
        self.clock.advance(seconds)

    # -- operators

    @rule(verb=st.sampled_from(list(Act)), picks=draw.several_picks, aimed=draw.mostly)
    def act(self, verb: Act, picks: list[int], aimed: bool) -> None:
        """Mostly on jobs that allow it; else on any, the one that does not exist included."""
        fit = [job_id for job_id in self.model.jobs if self.model.allows(verb, job_id)]
        ids = fit if aimed and fit else [*self.model.jobs, draw.MISSING]
        chosen = [ids[pick % len(ids)] for pick in picks]
        self.model.act(verb, chosen, getattr(self.backend, verb)(chosen))

    @precondition(lambda self: self.model.jobs)
    @rule(picks=draw.several_picks)
    def take_out(self, picks: list[int]) -> None:
        """Copies of whole jobs; those that do not run leave the store."""
        ids = [*self.model.jobs]
        chosen = [*dict.fromkeys(ids[pick % len(ids)] for pick in picks)]
        self.taken += [job for job in map(self.backend.get, chosen) if job is not None]
        self.model.act(Act.DELETE, chosen, self.backend.delete(chosen))

    @precondition(lambda self: self.taken)
    @rule(picks=draw.several_picks)
    def restore(self, picks: list[int]) -> None:
        jobs = [self.taken[-1 - pick % len(self.taken)] for pick in picks]
        self.model.restore(jobs, self.backend.restore(jobs))

    @rule(queue=draw.queues, verb=st.sampled_from(("pause", "resume", "resume", "purge")))
    def act_on_queue(self, queue: str, verb: str) -> None:
        if verb == "pause":
            self.backend.pause_queue(queue)
            self.model.paused.add(queue)
        elif verb == "resume":
            self.backend.resume_queue(queue)
            self.model.paused.discard(queue)
        else:
            self.model.purge(queue, self.backend.purge(queue))

    @rule(
        seconds=draw.steps,
        states=draw.finished_states,
        keep=st.sampled_from((None, 1, 2)),
        limit=draw.limits,
    )
    def prune(self, seconds: float, states: set[State], keep: int | None, limit: int) -> None:
        self.clock.advance(seconds)
        chosen = {"older_than": 86_400.0, "states": states, "keep": keep, "limit": limit}
        self.model.prune(self.backend.prune(**chosen), **chosen)  # type: ignore[arg-type]

    @rule(
        key=st.sampled_from(("rate/a", "breaker/a")),
        value=st.none() | st.sampled_from(("1", "2")),
        expect=st.none() | st.sampled_from((0, 0, 1)),
        ttl=st.sampled_from((5.0, 50.0)),
    )
    def write_cell(self, key: str, value: str | None, expect: int | None, ttl: float) -> None:
        """Against whatever version, the present one, or a wrong one."""
        if expect is not None:
            expect += self.model.version(key)
        cell = self.backend.write_cell(key, value, expect=expect, ttl=ttl)
        self.model.write_cell(key, value, cell, expect=expect, ttl=ttl)

    # -- what holds after every step; looking at the jobs first tells the model what was left open

    @invariant()
    def the_store_is_as_the_model_says(self) -> None:
        page = self.backend.list(Filter(), limit=1_000)
        self.model.check_page(page)
        self.model.check_touched()
        self.model.check_snapshot(self.backend.snapshot())
        for prefix in ("", "rate/"):
            self.model.check_cells(prefix, self.backend.read_cells(prefix))
        for queue in draw.QUEUES:
            self.model.wait([queue], self.backend.wait([queue], 0))
        for job in page.jobs:
            self._check_history(job)
        self.seen = {job.id: job for job in page.jobs}

    def _settle(self, endings: list[tuple[Job, Ending]]) -> None:
        now = self.clock.now()
        batch = [ending.of(job, now) for job, ending in endings]
        self.model.settle(batch, self.backend.settle(batch))
        self.settled += batch

    def _check_history(self, job: Job) -> None:
        """Independent of the model: what no sequence of calls may ever do to a job."""
        assert job.attempts <= job.max_attempts, f"{job} was charged too often"
        before = self.seen.get(job.id)
        if before is not None:
            assert job.seq == before.seq, f"{job} changed its place in push order"
            assert job.fence >= before.fence, f"the fence of {job} shrank from {before.fence}"
            assert job.generation >= before.generation, f"{job} went back a generation"
            if before.state in TERMINAL and job.generation == before.generation:
                assert job.state == before.state, f"{job} was {before.state} and was not retried"
