"""snapshot: counts that never drift from a recount."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

from ferryman.filter import Filter
from ferryman.job import State
from ferryman.testing.conformance.given import (
    DAY,
    a_message,
    ack,
    claimed,
    claims,
    fail,
    give_back,
    in_state,
    nack,
    pushed,
    settle,
    several,
)
from ferryman.testing.conformance.store import Store, needs

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman.queue.contract import Backend
    from ferryman.testing.clock import FakeClock


class Counts(Store):
    def test_an_empty_store_counts_nothing(self, backend: Backend, clock: FakeClock) -> None:
        snapshot = backend.snapshot()
        assert snapshot.at == clock.now()
        assert [snapshot.count(state) for state in State] == [0] * 6

    def test_every_state_is_counted(self, backend: Backend) -> None:
        for state in State:
            in_state(backend, state, queue=state.value)
        snapshot = backend.snapshot()
        assert [snapshot.count(state) for state in State] == [1] * 6
        assert [snapshot.count(state, state.value) for state in State] == [1] * 6

    def test_queues_are_counted_apart(self, backend: Backend) -> None:
        several(backend, 3, queue="a")
        several(backend, 2, queue="b")
        snapshot = backend.snapshot()
        assert (snapshot.count(State.PENDING, "a"), snapshot.count(State.PENDING, "b")) == (3, 2)
        assert (snapshot.count(State.PENDING), snapshot.count(State.PENDING, "c")) == (5, 0)

    def test_scheduled_jobs_are_pending_but_not_ready(self, backend: Backend) -> None:
        several(backend, 3)
        several(backend, 2, delay=60)
        counts = backend.snapshot().queues["mail"]
        assert (counts.states[State.PENDING], counts.scheduled, counts.ready) == (5, 2, 3)
        assert (counts.total, counts.paused) == (5, False)

    def test_the_oldest_ready_job_tells_how_long_it_has_been_due(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        pushed(backend, priority=-10)
        clock.advance(200)
        pushed(backend, task="other")
        pushed(backend, priority=10)
        pushed(backend, delay=60)
        pushed(backend, queue="other", delay=30)
        clock.advance(40)
        pushed(backend, queue="later", delay=30)
        assert ages(backend) == {"mail": 240, "other": 10, "later": None}

    def test_a_job_that_was_claimed_or_ended_is_not_the_oldest_ready_one(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        for _ in range(4):
            pushed(backend)
            clock.advance(100)
        settle(backend, ack(claims(backend, 1)[0]))
        [running] = claims(backend, 1)
        assert ages(backend) == {"mail": 200}
        settle(backend, nack(running, delay=30))
        backend.cancel([job.id for job in backend.list(Filter(), limit=2).jobs])
        assert ages(backend) == {"mail": None}
        clock.advance(50)
        assert ages(backend) == {"mail": 20}

    def test_the_oldest_ready_job_may_be_of_any_tenant(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        needs(backend, "tenants")
        for tenant in ("ana", "bo", None):
            several(backend, 2, tenant=tenant)
            pushed(backend, tenant=tenant, priority=10, delay=20)
            clock.advance(100)
        claims(backend, 6)
        clock.advance(100)
        assert ages(backend) == {"mail": 400}
        claims(backend, 2)
        assert ages(backend) == {"mail": 300}

    def test_a_job_that_waits_for_its_next_attempt_is_scheduled(self, backend: Backend) -> None:
        settle(backend, nack(claimed(backend), delay=60))
        counts = backend.snapshot().queues["mail"]
        assert (counts.scheduled, counts.ready) == (1, 0)

    def test_a_paused_job_is_not_scheduled(self, backend: Backend) -> None:
        job_id = pushed(backend, delay=60)
        backend.pause([job_id])
        counts = backend.snapshot().queues["mail"]
        assert (counts.states[State.PAUSED], counts.scheduled, counts.ready) == (1, 0, 0)

    def test_a_paused_queue_says_so(self, backend: Backend) -> None:
        pushed(backend)
        backend.pause_queue("mail")
        assert backend.snapshot().queues["mail"].paused
        backend.resume_queue("mail")
        assert not backend.snapshot().queues["mail"].paused

    def test_a_paused_queue_is_listed_without_any_job(self, backend: Backend) -> None:
        backend.pause_queue("empty")
        counts = backend.snapshot().queues["empty"]
        assert (counts.queue, counts.paused, counts.total) == ("empty", True, 0)

    def test_an_existing_or_conflicting_push_is_not_counted(self, backend: Backend) -> None:
        pushed(backend, "body", id="a", key="ana")
        backend.push([a_message("body", id="a"), a_message("other", id="a"), a_message(key="ana")])
        assert backend.snapshot().count(State.PENDING) == 1

    def test_a_refused_settlement_is_not_counted(self, backend: Backend) -> None:
        job = claimed(backend)
        settle(backend, fail(job))
        settle(backend, ack(job))
        settle(backend, fail(job))
        snapshot = backend.snapshot()
        assert (snapshot.count(State.FAILED), snapshot.count(State.COMPLETED)) == (1, 0)

    def test_deleted_purged_and_pruned_jobs_are_no_longer_counted(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        in_state(backend, State.COMPLETED)
        clock.advance(2 * DAY)
        backend.prune(older_than=DAY)
        backend.delete([in_state(backend, State.FAILED)])
        several(backend, 3)
        backend.purge("mail")
        assert recount(backend) == {}
        assert counted(backend) == {}

    def test_counts_equal_a_recount_after_two_hundred_random_acts(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        chance = random.Random(7)  # noqa: S311
        for _ in range(200):
            chance.choice(ACTS)(backend, clock, chance)
        assert counted(backend) == recount(backend)
        clock.advance(2 * DAY)
        backend.reap()
        backend.prune(older_than=DAY)
        assert counted(backend) == recount(backend)


def ages(backend: Backend) -> dict[str, float | None]:
    """Seconds for which the oldest ready job of each queue has been due."""
    return {
        queue: None if counts.oldest_ready is None else round(counts.oldest_ready, 3)
        for queue, counts in backend.snapshot().queues.items()
    }


def counted(backend: Backend) -> Counter[tuple[str, str]]:
    """What the store's counters say, by queue and state (scheduled apart)."""
    counts: Counter[tuple[str, str]] = Counter()
    for queue, found in backend.snapshot().queues.items():
        for state, number in found.states.items():
            counts[queue, state] += number
        counts[queue, "scheduled"] += found.scheduled
    return +counts


def recount(backend: Backend) -> Counter[tuple[str, str]]:
    """The same, from the jobs themselves."""
    now = backend.clock.now()
    counts: Counter[tuple[str, str]] = Counter()
    for job in backend.list(Filter(), limit=100_000).jobs:
        counts[job.queue, job.state] += 1
        if job.state is State.PENDING and job.ready_at > now:
            counts[job.queue, "scheduled"] += 1
    return counts


def _any_ids(backend: Backend, chance: random.Random) -> list[str]:
    ids = [job.id for job in backend.list(Filter(), limit=1_000).jobs]
    return chance.sample(ids, min(3, len(ids)))


def _end(backend: Backend, chance: random.Random) -> None:
    endings = (ack, nack, fail, give_back)
    running = claims(backend, 2, queue=chance.choice("ab"))
    backend.settle([chance.choice(endings)(job) for job in running])


def _reap_later(backend: Backend, clock: FakeClock) -> None:
    clock.advance(13)
    backend.reap()


ACTS: tuple[Callable[[Backend, FakeClock, random.Random], object], ...] = (
    lambda b, _, r: several(b, r.randint(1, 4), queue=r.choice("ab"), delay=r.choice([0, 0, 40])),
    lambda b, _, r: pushed(b, queue=r.choice("ab"), expires=r.choice([10, 90])),
    lambda b, _, r: claims(b, 2, queue=r.choice("ab")),
    lambda b, _, r: _end(b, r),
    lambda b, _, r: b.cancel(_any_ids(b, r)),
    lambda b, _, r: b.pause(_any_ids(b, r)),
    lambda b, _, r: b.resume(_any_ids(b, r)),
    lambda b, _, r: b.retry(_any_ids(b, r)),
    lambda b, _, r: b.delete(_any_ids(b, r)[:1]),
    lambda b, c, _: _reap_later(b, c),
)
