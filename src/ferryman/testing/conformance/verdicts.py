"""Races for the last word on a claim: whatever the interleaving, exactly one has it."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import chain, cycle, takewhile
from threading import Event
from typing import TYPE_CHECKING

from ferryman.job import State
from ferryman.queue.heartbeat import Beat
from ferryman.testing.conformance.crowd import (
    PATIENCE,
    beat_each,
    dead,
    reap_all,
    running,
    settle_each,
    taking_turns,
    together,
)
from ferryman.testing.conformance.given import (
    AT_ONCE,
    ack,
    claims,
    fail,
    nack,
    state_of,
    the_job,
)
from ferryman.testing.conformance.handoff import children_of
from ferryman.testing.conformance.store import Store
from ferryman.testing.waiting import wait_until

if TYPE_CHECKING:
    from ferryman.job import Job
    from ferryman.queue.contract import Backend


class Verdicts(Store):
    def test_of_two_verdicts_on_one_claim_exactly_one_wins(self, real: Backend) -> None:
        jobs = running(real, self.pairs)
        acked, failed = together(
            partial(settle_each, real, map(ack, jobs)), partial(settle_each, real, map(fail, jobs))
        )
        for job, was_acked, was_failed in zip(jobs, acked, failed, strict=True):
            assert was_acked is not was_failed
            assert state_of(real, job.id) is (State.COMPLETED if was_acked else State.FAILED)

    def test_the_same_ending_from_two_threads_is_applied_once(self, real: Backend) -> None:
        jobs = running(real, self.pairs)
        endings = [ack(job, children=children_of(job, 2)) for job in jobs]
        found = together(*(partial(settle_each, real, endings) for _ in range(3)))
        assert all(all(applied) for applied in found)
        assert real.snapshot().count(State.PENDING, "pages") == 2 * self.pairs

    def test_a_nack_from_two_threads_is_charged_once(self, real: Backend) -> None:
        jobs = running(real, self.pairs)
        endings = [nack(job, delay=600) for job in jobs]
        together(*(partial(settle_each, real, endings) for _ in range(2)))
        found = [the_job(real, job.id) for job in jobs]
        assert {(job.attempts, len(job.errors)) for job in found} == {(1, 1)}

    def test_reap_racing_ack_ends_each_claim_once(self, real: Backend) -> None:
        jobs = dead(real, self.pairs)
        acked, reaped = together(
            partial(settle_each, real, map(ack, jobs)), partial(reap_all, real)
        )
        returned = set(reaped)
        for job, was_acked in zip(jobs, acked, strict=True):
            assert was_acked is (job.id not in returned)
            assert state_of(real, job.id) is (State.COMPLETED if was_acked else State.PENDING)

    def test_two_reapers_return_each_lease_once(self, real: Backend) -> None:
        jobs = dead(real, self.pairs)
        found = together(*(partial(reap_all, real) for _ in range(3)))
        assert Counter(chain(*found)) == Counter(job.id for job in jobs)
        after = [the_job(real, job.id) for job in jobs]
        assert {(job.attempts, len(job.errors)) for job in after} == {(1, 1)}

    def test_heartbeat_racing_reap_holds_the_lease_or_loses_it(self, real: Backend) -> None:
        jobs = dead(real, self.pairs)
        held, reaped = together(partial(beat_each, real, jobs), partial(reap_all, real))
        returned = set(reaped)
        for job, was_held in zip(jobs, held, strict=True):
            assert was_held is (job.id not in returned)
            assert state_of(real, job.id) is (State.PROCESSING if was_held else State.PENDING)

    def test_a_stale_ack_never_ends_the_claim_of_another_worker(self, real: Backend) -> None:
        stale = dead(real, self.pairs, backoff=AT_ONCE)
        real.reap(self.pairs)
        late_already, done = Event(), Event()

        def rival() -> list[bool]:
            late_already.wait(PATIENCE)
            mine: list[Job] = []
            try:
                # One poll may pass over a job that the latecomer asks for at that very moment.
                wait_until(lambda: self._all_claimed(real, mine), what="all to be claimed")
                return settle_each(real, map(fail, mine))
            finally:
                done.set()

        def latecomer() -> list[bool]:
            late_already.set()
            endings = takewhile(lambda _: not done.is_set(), cycle(map(ack, stale)))
            return settle_each(real, endings)

        late, mine = together(latecomer, rival)
        assert (any(late), all(mine), len(mine)) == (False, True, self.pairs)
        assert {state_of(real, job.id) for job in stale} == {State.FAILED}

    def _all_claimed(self, real: Backend, mine: list[Job]) -> bool:
        mine += claims(real, self.pairs, worker="w2")
        return len(mine) >= self.pairs

    def test_a_heartbeat_in_flight_never_revives_a_settled_job(self, real: Backend) -> None:
        jobs = running(real, self.pairs)
        together(partial(beat_each, real, jobs), partial(settle_each, real, map(ack, jobs)))
        assert {state_of(real, job.id) for job in jobs} == {State.COMPLETED}
        assert not any(beat_each(real, jobs))

    def test_cancel_racing_ack_decides_how_the_job_ends(self, real: Backend) -> None:
        jobs = running(real, self.pairs)

        def cancel_each() -> list[bool]:
            return [real.cancel([job.id])[0].refused is None for job in taking_turns(jobs)]

        asked, acked = together(
            cancel_each, partial(settle_each, real, (ack(job) for job in reversed(jobs)))
        )
        assert all(acked)
        for job, was_asked in zip(jobs, asked, strict=True):
            assert state_of(real, job.id) is (State.CANCELLED if was_asked else State.COMPLETED)

    def test_a_lost_poll_given_back_races_its_ack(self, real: Backend) -> None:
        jobs = running(real, self.pairs)

        def give_up() -> list[bool]:
            listed = [Beat(job.id, job.fence) for job in jobs]
            for number in taking_turns(range(self.pairs)):
                real.heartbeat("worker-1", listed[number + 1 :], lease=600, answered=0)
            return []

        acked, _ = together(partial(settle_each, real, map(ack, reversed(jobs))), give_up)
        for job, was_acked in zip(reversed(jobs), acked, strict=True):
            assert state_of(real, job.id) is (State.COMPLETED if was_acked else State.PENDING)

    def test_children_are_there_the_moment_their_parent_is_completed(self, real: Backend) -> None:
        jobs = running(real, self.pairs)
        done = Event()

        def complete() -> None:
            try:
                settle_each(real, [ack(job, children=children_of(job, 2)) for job in jobs])
            finally:
                done.set()

        def watch() -> list[str]:
            orphans: list[str] = []
            while not done.is_set():
                orphans += [job.id for job in jobs if is_childless(real, job)]
            return orphans

        assert together(complete, watch) == [None, []]


def is_childless(store: Backend, parent: Job) -> bool:
    """Whether the parent is completed and one of its children is not there."""
    if state_of(store, parent.id) is not State.COMPLETED:
        return False
    return any(store.get(child.id) is None for child in children_of(parent, 2))
