"""reap: leases of the dead go back to the queue, charged; the living are left alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.job import State
from ferryman.lifecycle import WORKER_TIMED_OUT
from ferryman.testing.conformance.given import (
    STEADY,
    ack,
    beat,
    claim,
    claimed,
    claims,
    in_state,
    pushed,
    settle,
    several,
    state_of,
    the_job,
)
from ferryman.testing.conformance.store import Store

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend
    from ferryman.testing.clock import FakeClock


class Reap(Store):
    def test_an_expired_lease_returns_the_job_to_the_queue(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend, worker="w1")
        clock.advance(61)
        [reaped] = backend.reap()
        assert (reaped.id, reaped.queue, reaped.task) == (job.id, "mail", "send")
        assert (reaped.state, reaped.worker) == (State.PENDING, "w1")
        found = the_job(backend, job.id)
        assert (found.state, found.worker, found.expires_at) == (State.PENDING, None, None)

    def test_a_lease_that_runs_is_left_alone(self, backend: Backend, clock: FakeClock) -> None:
        job = claimed(backend)
        clock.advance(59)
        assert list(backend.reap()) == []
        assert state_of(backend, job.id) is State.PROCESSING

    def test_an_expired_lease_is_charged(self, backend: Backend, clock: FakeClock) -> None:
        job = claimed(backend)
        clock.advance(61)
        backend.reap()
        found = the_job(backend, job.id)
        assert (found.attempts, found.given_back) == (1, 0)

    def test_the_error_says_that_the_worker_timed_out(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend, worker="w1")
        clock.advance(61)
        backend.reap()
        [error] = the_job(backend, job.id).errors
        assert (error.kind, error.text) == ("lease", WORKER_TIMED_OUT)
        assert (error.attempt, error.worker, error.at) == (1, "w1", clock.now())
        assert the_job(backend, job.id).error == WORKER_TIMED_OUT

    def test_reap_waits_by_the_backoff_stored_with_the_job(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        pushed(backend, backoff=STEADY)
        waits = []
        for _ in range(3):
            job = claim(backend)
            clock.advance(61)
            backend.reap()
            waits.append(the_job(backend, job.id).ready_at - clock.now())
            clock.advance(60)
        assert waits == [10, 30, 50]

    def test_a_reaped_job_is_not_claimable_before_its_backoff(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend, backoff=STEADY)
        clock.advance(61)
        backend.reap()
        clock.advance(9)
        assert claims(backend) == []
        clock.advance(1)
        again = claim(backend)
        assert (again.id, again.fence, again.attempts) == (job.id, 2, 2)

    def test_an_expired_lease_at_the_last_attempt_fails_the_job(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend, max_attempts=1)
        clock.advance(61)
        assert [reaped.state for reaped in backend.reap()] == [State.FAILED]
        found = the_job(backend, job.id)
        assert (found.error, found.finished_at) == (WORKER_TIMED_OUT, clock.now())

    def test_an_expired_lease_that_was_asked_to_cancel_is_cancelled(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend)
        backend.cancel([job.id])
        clock.advance(61)
        assert [reaped.state for reaped in backend.reap()] == [State.CANCELLED]
        assert state_of(backend, job.id) is State.CANCELLED

    def test_a_cancel_that_was_asked_wins_at_the_last_attempt_too(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend, max_attempts=1)
        backend.cancel([job.id])
        clock.advance(61)
        backend.reap()
        assert state_of(backend, job.id) is State.CANCELLED

    def test_an_expired_lease_that_was_asked_to_pause_is_paused(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend)
        backend.pause([job.id])
        clock.advance(61)
        assert [reaped.state for reaped in backend.reap()] == [State.PAUSED]
        assert the_job(backend, job.id).attempts == 1

    def test_a_pause_that_was_asked_does_not_save_the_last_attempt(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend, max_attempts=1)
        backend.pause([job.id])
        clock.advance(61)
        backend.reap()
        assert state_of(backend, job.id) is State.FAILED

    def test_the_checkpoint_of_the_dead_is_kept(self, backend: Backend, clock: FakeClock) -> None:
        job = claimed(backend)
        beat(backend, job, checkpoint='{"page":40}')
        clock.advance(61)
        backend.reap()
        clock.advance(60)
        assert claim(backend).stored_checkpoint == '{"page":40}'

    def test_a_lease_is_reaped_once(self, backend: Backend, clock: FakeClock) -> None:
        job = claimed(backend)
        clock.advance(61)
        assert len(backend.reap()) == 1
        assert list(backend.reap()) == []
        assert the_job(backend, job.id).attempts == 1

    def test_an_empty_store_has_nothing_to_reap(self, backend: Backend) -> None:
        assert list(backend.reap()) == []

    def test_jobs_that_do_not_run_have_nothing_to_reap(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        for state in State:
            if state is not State.PROCESSING:
                in_state(backend, state, queue=state.value)
        clock.advance(3_600)
        assert list(backend.reap()) == []

    def test_reap_ends_at_most_limit_the_oldest_first(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        several(backend, 6)
        second = claims(backend, 3, lease=50)
        first = claims(backend, 3, lease=20)
        clock.advance(61)
        assert {reaped.id for reaped in backend.reap(limit=3)} == {job.id for job in first}
        assert {reaped.id for reaped in backend.reap(limit=3)} == {job.id for job in second}

    def test_the_limit_counts_leases_and_deadlines_apart(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        several(backend, 3)
        claims(backend, 3)
        several(backend, 3, expires=30)
        clock.advance(61)
        states = sorted(reaped.state for reaped in backend.reap(limit=2))
        assert states == [State.CANCELLED] * 2 + [State.PENDING] * 2

    def test_many_leases_of_a_dead_worker_are_reaped_at_once(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        several(backend, self.many)
        claims(backend, self.many)
        clock.advance(61)
        assert len(backend.reap()) == self.many

    def test_leases_of_a_paused_queue_are_reaped_too(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        claimed(backend)
        backend.pause_queue("mail")
        clock.advance(61)
        assert len(backend.reap()) == 1

    def test_a_clock_that_steps_back_ends_no_lease_early(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend)
        clock.step(-600)
        clock.advance(300)
        assert list(backend.reap()) == []
        assert settle(backend, ack(job)).applied

    def test_only_the_expired_of_many_leases_end(self, backend: Backend, clock: FakeClock) -> None:
        several(backend, 4)
        jobs = claims(backend)
        clock.advance(40)
        beat(backend, jobs[0])
        settle(backend, ack(jobs[1]))
        clock.advance(30)
        assert {reaped.id for reaped in backend.reap()} == {jobs[2].id, jobs[3].id}
