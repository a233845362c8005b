"""A suite that never complains proves nothing: each of these stores breaks one rule."""

from __future__ import annotations

import inspect
import sqlite3
import time
from collections import Counter, defaultdict
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from ferryman.errors import BackendUnavailable
from ferryman.filter import Filter
from ferryman.ids import new_id
from ferryman.job import State
from ferryman.lifecycle import Verdict
from ferryman.queue.answers import Page, Pushed
from ferryman.queue.capacity import NO_LIMITS
from ferryman.queue.open import open_backend
from ferryman.queue.settlement import Receipt, Settlement
from ferryman.testing.conformance import Conformance, crash
from ferryman.testing.conformance.given import claimed, pushed
from ferryman.testing.conformance.rivals import Rival
from ferryman.testing.conformance.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ferryman.job import Job
    from ferryman.message import Message
    from ferryman.queue.answers import Reaped
    from ferryman.queue.capacity import Limits
    from ferryman.queue.contract import Backend
    from ferryman.queue.heartbeat import Beat, Pulse
    from ferryman.testing.clock import FakeClock


class Broken:
    """A store that does everything right, but for what a subclass breaks."""

    def __init__(self, store: Backend) -> None:
        self.store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


def linger() -> None:
    """A fault that needs two threads at once must last longer than the start of a thread."""
    time.sleep(0.0005)


class SettlesWithoutFence(Broken):
    """Whoever settles a job that runs is believed."""

    ignored: tuple[str, ...] = ("fence", "worker")

    def settle(self, endings: Sequence[Settlement]) -> Sequence[Receipt]:
        linger()
        return self.store.settle([self._as_the_holder(ending) for ending in endings])

    def _as_the_holder(self, ending: Settlement) -> Settlement:
        job = self.store.get(ending.job_id)
        if job is None or job.worker is None:
            return ending
        return replace(ending, **{name: getattr(job, name) for name in self.ignored})


class SettlesByWorkerAlone(SettlesWithoutFence):
    ignored = ("fence",)


class SettlesByNumberAlone(SettlesWithoutFence):
    ignored = ("worker",)


class HeartbeatsWithoutFence(Broken):
    """Whoever says that a job is alive prolongs its lease."""

    def heartbeat(self, worker: str, beats: Sequence[Beat], **options: Any) -> Sequence[Pulse]:
        return [self._as_the_holder(worker, each, options) for each in beats]

    def _as_the_holder(self, worker: str, each: Beat, options: dict[str, Any]) -> Pulse:
        job = self.store.get(each.job_id)
        if job is not None and job.worker is not None:
            worker, each = job.worker, replace(each, fence=job.fence)
        return self.store.heartbeat(worker, [each], **options)[0]


class HandsOutTwice(Broken):
    def __init__(self, store: Backend) -> None:
        super().__init__(store)
        self.last: dict[str, Sequence[Job]] = {}

    def poll(self, worker: str, queues: Any, **options: Any) -> Sequence[Job]:
        linger()
        jobs = self.store.poll(worker, queues, **options)
        others = [job for other in list(self.last) if other != worker for job in self.last[other]]
        self.last[worker] = jobs
        return [*jobs, *others]


class LooksThenPushes(Broken):
    def __init__(self, store: Backend) -> None:
        super().__init__(store)
        self.seen: set[str] = set()

    def push(self, messages: Sequence[Message], **_: Any) -> Sequence[Pushed]:
        return [self._push(message) for message in messages]

    def _push(self, message: Message) -> Pushed:
        mark = message.key or message.id
        if mark in self.seen:
            return Pushed(message.id, "existing")
        linger()
        self.seen.add(mark)
        self.store.push([replace(message, id=new_id(), key=None)])
        return Pushed(message.id, "created")


class ForgetsKeys(Broken):
    def push(self, messages: Sequence[Message], **options: Any) -> Sequence[Pushed]:
        return self.store.push([replace(message, key=None) for message in messages], **options)


class HandsOverApart(Broken):
    def settle(self, endings: Sequence[Settlement]) -> Sequence[Receipt]:
        receipts = self.store.settle([replace(ending, children=()) for ending in endings])
        linger()
        for ending in endings:
            self.store.push(ending.children)
        return receipts


class RefusesRepeats(Broken):
    def __init__(self, store: Backend) -> None:
        super().__init__(store)
        self.seen: set[tuple[str, str]] = set()

    def settle(self, endings: Sequence[Settlement]) -> Sequence[Receipt]:
        marks = [(ending.job_id, ending.mark) for ending in endings]
        repeats = [mark in self.seen for mark in marks]
        self.seen.update(marks)
        receipts = self.store.settle(endings)
        return [
            replace(receipt, applied=receipt.applied and not repeat)
            for receipt, repeat in zip(receipts, repeats, strict=True)
        ]


class AnswersApplied(Broken):
    def settle(self, endings: Sequence[Settlement]) -> Sequence[Receipt]:
        linger()
        self.store.settle(endings)
        return [Receipt(ending.job_id, True, State.COMPLETED) for ending in endings]


class IgnoresLostPolls(Broken):
    def heartbeat(self, worker: str, beats: Any, *, lease: float, answered: int = -1) -> Any:
        return self.store.heartbeat(worker, beats, lease=lease)


class ReapsTheLiving(Broken):
    def reap(self, limit: int = 1_000) -> Sequence[Reaped]:
        clock = cast("FakeClock", self.store.clock)
        clock.step(3_600)
        try:
            return self.store.reap(limit)
        finally:
            clock.step(-3_600)


class ReapsTwice(Broken):
    """Two reapers that do not see each other return the same leases."""

    last: Sequence[Reaped] = ()

    def reap(self, limit: int = 1_000) -> Sequence[Reaped]:
        before, self.last = self.last, self.store.reap(limit)
        return [*self.last, *before]


class PollsEarly(Broken):
    def poll(self, *args: Any, **options: Any) -> Sequence[Job]:
        clock = cast("FakeClock", self.store.clock)
        clock.step(1 / 512)
        try:
            return self.store.poll(*args, **options)
        finally:
            clock.step(-1 / 512)


class PrunesTheYoung(Broken):
    def prune(self, *, older_than: float, **options: Any) -> int:
        return self.store.prune(older_than=max(older_than, 86_400), **options)


class WaitsInSteps(Broken):
    def wait(self, queues: Any, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        while not self.store.wait(queues, 0):
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.1)
        return True


class WritesCellsUnseen(Broken):
    def write_cell(self, key: str, value: str | None, *, expect: Any, ttl: Any = None) -> Any:
        linger()
        return self.store.write_cell(key, value, expect=None, ttl=ttl)


class Miscounts(Broken):
    def snapshot(self) -> Any:
        counts = self.store.snapshot()
        return replace(counts, queues=dict(list(counts.queues.items())[1:]))


class LooksEmptyWhenAway(Broken):
    def poll(self, *args: Any, **options: Any) -> Sequence[Job]:
        try:
            return self.store.poll(*args, **options)
        except BackendUnavailable:
            return []


class RestoresAsNew(Broken):
    """Moved jobs lose what happened to them."""

    def restore(self, jobs: Sequence[Job]) -> Sequence[Pushed]:
        return self.store.restore([replace(job, errors=(), fence=0, seq=0) for job in jobs])


class RestoresOverKeys(Broken):
    """Two unfinished jobs may end up with one key."""

    def restore(self, jobs: Sequence[Job]) -> Sequence[Pushed]:
        return self.store.restore([replace(job, key=None) for job in jobs])


class IgnoresCapacity(Broken):
    """Takes whatever comes."""

    def push(self, messages: Sequence[Message], **_: Any) -> Sequence[Pushed]:
        return self.store.push(messages)


class RefusesTheKnown(Broken):
    """Looks at how many messages come, not at how many of them are new."""

    def push(self, messages: Sequence[Message], *, limits: Limits = NO_LIMITS) -> Sequence[Pushed]:
        for queue, limit in limits.items():
            most = limit.capacity or 0
            if self.store.depth(queue, most) + len(messages) > most:
                return [Pushed(message.id, "full") for message in messages]
        return self.store.push(messages)


class OneTenant(Broken):
    """Keeps whose a job is, and serves first who came first."""

    def push(self, messages: Sequence[Message], **options: Any) -> Sequence[Pushed]:
        return self.store.push([replace(message, tenant=None) for message in messages], **options)

    def poll(self, *args: Any, **options: Any) -> Sequence[Job]:
        return [replace(job, tenant="a") for job in self.store.poll(*args, **options)]


SEEN: list[tuple[Any, ...]] = [
    (IgnoresCapacity, "a_queue_takes_as_many_jobs_as_its_capacity"),
    (IgnoresCapacity, "nothing_of_a_batch_that_does_not_fit_is_written"),
    (RefusesTheKnown, "what_is_there_already_is_not_refused"),
    (OneTenant, "tenants_take_turns"),
    (OneTenant, "a_small_tenant_does_not_wait_behind_a_large_one"),
    (SettlesWithoutFence, "promise_3_a_stale_fence_is_refused_for_every_verdict", Verdict.ACK),
    (
        SettlesWithoutFence,
        "promise_3_a_stale_fence_is_refused_for_every_verdict",
        Verdict.GIVE_BACK,
    ),
    (SettlesWithoutFence, "promise_3_a_fence_that_never_was_is_refused", 2),
    (SettlesWithoutFence, "promise_3_a_stale_fence_cannot_hand_over"),
    (SettlesWithoutFence, "a_claim_of_the_generation_before_cannot_settle"),
    (SettlesWithoutFence, "a_stale_ack_never_ends_the_claim_of_another_worker"),
    (
        SettlesByWorkerAlone,
        "a_worker_that_claimed_again_cannot_settle_its_earlier_claim",
        Verdict.ACK,
    ),
    (SettlesByWorkerAlone, "promise_3_a_fence_that_never_was_is_refused", 2),
    (SettlesByNumberAlone, "the_claim_of_another_worker_cannot_be_settled", Verdict.ACK),
    (
        SettlesByNumberAlone,
        "a_claim_on_a_deleted_job_does_not_fit_the_one_pushed_under_its_id_later",
        Verdict.ACK,
    ),
    (AnswersApplied, "of_two_verdicts_on_one_claim_exactly_one_wins"),
    (AnswersApplied, "reap_racing_ack_ends_each_claim_once"),
    (AnswersApplied, "receipts_of_a_mixed_batch_come_in_order"),
    (HeartbeatsWithoutFence, "promise_3_a_stale_fence_cannot_heartbeat_or_report"),
    (HeartbeatsWithoutFence, "a_claim_that_was_made_again_is_not_held_by_the_first"),
    (HeartbeatsWithoutFence, "the_claim_of_another_worker_cannot_be_heartbeaten"),
    (HandsOutTwice, "concurrent_polls_never_hand_one_job_to_two_claimers"),
    (HandsOutTwice, "every_claim_of_a_job_has_its_own_fence"),
    (HandsOutTwice, "a_claimed_job_is_invisible_to_others"),
    (LooksThenPushes, "concurrent_pushes_of_one_id_create_one_job"),
    (LooksThenPushes, "concurrent_pushes_of_one_key_create_one_job"),
    (ForgetsKeys, "concurrent_pushes_of_one_key_create_one_job"),
    (ForgetsKeys, "unfinished_is_the_default"),
    (HandsOverApart, "children_are_there_the_moment_their_parent_is_completed"),
    (HandsOverApart, "a_refused_ack_hands_over_nothing"),
    (HandsOverApart, "only_an_ack_hands_over", Verdict.FAIL),
    (RefusesRepeats, "promise_3_the_same_settle_sent_twice_answers_applied", Verdict.ACK),
    (RefusesRepeats, "the_same_ending_from_two_threads_is_applied_once"),
    (IgnoresLostPolls, "a_lost_reply_costs_no_attempt"),
    (ReapsTheLiving, "a_lease_that_runs_is_left_alone"),
    (ReapsTheLiving, "promise_2_a_second_claim_follows_only_the_end_of_the_first_lease"),
    (ReapsTwice, "two_reapers_return_each_lease_once"),
    (PollsEarly, "a_delayed_job_is_not_a_millisecond_early"),
    (PrunesTheYoung, "history_younger_than_a_day_cannot_be_pruned", 3_600),
    (WaitsInSteps, "a_push_from_another_thread_wakes_the_waiter_within_50_ms"),
    (WritesCellsUnseen, "a_counter_in_a_cell_loses_no_increment"),
    (WritesCellsUnseen, "a_cell_that_exists_is_not_created_again"),
    (RestoresAsNew, "everything_that_happened_to_a_job_arrives", State.FAILED),
    (RestoresAsNew, "a_restored_failure_can_be_retried"),
    (RestoresOverKeys, "a_restored_job_holds_its_key"),
    (RestoresOverKeys, "a_key_conflicts_within_a_batch_too"),
    (Miscounts, "counts_equal_a_recount_after_a_crowd"),
]


class TestTheSuite(Store):
    @pytest.fixture(params=["memory", "sqlite"])
    def url(self, request: pytest.FixtureRequest, tmp_path: Path) -> str:
        return {"memory": "memory://", "sqlite": f"sqlite:///{tmp_path}/jobs.db"}[request.param]

    @pytest.mark.parametrize("seen", SEEN, ids=lambda seen: f"{seen[0].__name__}-{seen[1]}")
    def test_a_broken_store_is_seen(
        self,
        backend: Backend,
        real: Backend,
        other: Backend,
        clock: FakeClock,
        seen: tuple[Any, ...],
    ) -> None:
        fault, case, *more = seen
        broken = fault(backend)
        given = {"backend": broken, "fair": broken, "real": fault(real), "other": other}
        given["clock"] = clock
        with pytest.raises((AssertionError, pytest.fail.Exception)):
            run(case, given, more)

    def test_an_empty_answer_during_an_outage_is_seen(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/jobs.db?busy_timeout=0"
        with closing(open_backend(url)) as store:
            given = {"fragile": LooksEmptyWhenAway(store), "outage": locked(tmp_path / "jobs.db")}
            with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
                run("promise_7_an_outage_never_looks_like_an_empty_queue", given, [])

    def test_processes_that_do_not_share_are_seen(self, real: Backend) -> None:
        with Rival() as one, Rival() as other:
            given = {"shared": real, "url": "memory://", "rivals": (one, other)}
            with pytest.raises(AssertionError):
                run("two_processes_pushing_the_same_ids_create_each_job_once", given, [])

    def test_a_lost_job_is_seen_after_a_kill(self, backend: Backend) -> None:
        facts: crash.Facts = defaultdict(set, {"pushed": {pushed(backend), "nobody"}})
        with pytest.raises(AssertionError, match="nobody was acknowledged and is lost"):
            crash.assert_all_survived(backend, facts)

    def test_an_undone_ack_is_seen_after_a_kill(self, backend: Backend) -> None:
        facts: crash.Facts = defaultdict(set, {"acked": {claimed(backend).id}})
        with pytest.raises(AssertionError):
            crash.assert_all_survived(backend, facts)

    def test_a_job_in_two_states_is_seen_after_a_kill(self, backend: Backend) -> None:
        class ListsTwice(Broken):
            def list(self, where: Filter, **options: Any) -> Page:
                page = self.store.list(where, **options)
                return page if where == Filter() else self.store.list(Filter(), **options)

        pushed(backend)
        with pytest.raises(AssertionError):
            crash.assert_nothing_is_in_two_states(cast("Backend", ListsTwice(backend)))

    def test_no_case_hides_another_of_the_same_name(self) -> None:
        names = Counter(
            name
            for part in Conformance.__mro__
            for name in vars(part)
            if name.startswith("test_") or isinstance(vars(part)[name], type(Store.url))
        )
        assert [name for name, times in names.items() if times > 1] == []

    def test_the_suite_has_hundreds_of_cases(self) -> None:
        cases = [name for name in dir(Conformance) if name.startswith("test_")]
        assert len(cases) > 300


def run(case: str, given: dict[str, Any], more: list[Any]) -> None:
    """Call one case with the fixtures it names; `more` are its parameters, in order."""
    method = getattr(Conformance(), f"test_{case}")
    names = inspect.signature(method).parameters
    left = iter(more)
    method(**{name: given[name] if name in given else next(left) for name in names})


def locked(path: Path) -> Any:
    """Takes an SQLite store away: another connection holds its write lock."""

    @contextmanager
    def lock() -> Iterator[None]:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            yield

    return lock
