"""pause and resume, of jobs and of queues."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.job import State
from ferryman.testing.conformance.given import (
    ack,
    beat,
    claim,
    claimed,
    claims,
    fail,
    give_back,
    in_state,
    nack,
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


class Pause(Store):
    def test_a_pending_job_is_paused_at_once(self, backend: Backend) -> None:
        job_id = pushed(backend)
        [acted] = backend.pause([job_id])
        assert (acted.id, acted.state, acted.refused) == (job_id, State.PAUSED, None)
        assert claims(backend) == []

    def test_a_scheduled_job_can_be_paused_past_its_time(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job_id = pushed(backend, delay=30)
        backend.pause([job_id])
        clock.advance(60)
        assert claims(backend) == []

    def test_a_running_job_is_only_asked_to_pause(self, backend: Backend) -> None:
        job = claimed(backend)
        [acted] = backend.pause([job.id])
        assert (acted.state, acted.refused) == (State.PROCESSING, None)
        assert the_job(backend, job.id).asked == "pause"
        assert beat(backend, job).asked == "pause"

    def test_a_job_that_stops_at_a_safe_point_is_paused_with_its_checkpoint(
        self, backend: Backend
    ) -> None:
        job = claimed(backend)
        backend.pause([job.id])
        beat(backend, job, checkpoint='{"page":40}')
        assert settle(backend, give_back(job)).state is State.PAUSED
        found = the_job(backend, job.id)
        assert (found.stored_checkpoint, found.attempts) == ('{"page":40}', 0)
        assert (found.worker, found.expires_at) == (None, None)

    def test_an_error_while_pause_was_asked_is_paused_and_charged(self, backend: Backend) -> None:
        job = claimed(backend)
        backend.pause([job.id])
        assert settle(backend, nack(job, "boom", delay=0)).state is State.PAUSED
        found = the_job(backend, job.id)
        assert (found.attempts, found.error) == (1, "boom")
        assert claims(backend) == []

    def test_an_error_at_the_last_attempt_while_pause_was_asked_is_failed(
        self, backend: Backend
    ) -> None:
        job = claimed(backend, max_attempts=1)
        backend.pause([job.id])
        assert settle(backend, nack(job)).state is State.FAILED

    def test_an_ack_while_pause_was_asked_is_completed(self, backend: Backend) -> None:
        job = claimed(backend)
        backend.pause([job.id])
        assert settle(backend, ack(job, "1")).state is State.COMPLETED

    def test_fail_while_pause_was_asked_is_failed(self, backend: Backend) -> None:
        job = claimed(backend)
        backend.pause([job.id])
        assert settle(backend, fail(job)).state is State.FAILED

    def test_a_resumed_job_is_claimable(self, backend: Backend) -> None:
        job_id = in_state(backend, State.PAUSED)
        [acted] = backend.resume([job_id])
        assert (acted.id, acted.state, acted.refused) == (job_id, State.PENDING, None)
        assert claim(backend).id == job_id

    def test_a_resumed_job_is_ready_as_it_was(self, backend: Backend, clock: FakeClock) -> None:
        job_id = pushed(backend, delay=30, priority=3)
        before = the_job(backend, job_id)
        backend.pause([job_id])
        clock.advance(10)
        backend.resume([job_id])
        assert the_job(backend, job_id) == before
        assert claims(backend) == []
        clock.advance(20)
        assert claim(backend).id == job_id

    def test_a_resumed_job_starts_from_its_checkpoint_and_is_asked_nothing(
        self, backend: Backend
    ) -> None:
        job = claimed(backend)
        backend.pause([job.id])
        beat(backend, job, checkpoint='{"page":40}')
        settle(backend, give_back(job))
        backend.resume([job.id])
        again = claim(backend)
        assert (again.stored_checkpoint, again.asked) == ('{"page":40}', None)
        assert beat(backend, again).asked is None

    @pytest.mark.parametrize(
        "state", [State.COMPLETED, State.FAILED, State.CANCELLED, State.PAUSED]
    )
    def test_only_pending_and_running_jobs_can_be_paused(
        self, backend: Backend, state: State
    ) -> None:
        job_id = in_state(backend, state)
        before = the_job(backend, job_id)
        [acted] = backend.pause([job_id])
        assert acted.state is state
        assert acted.refused is not None
        assert the_job(backend, job_id) == before

    @pytest.mark.parametrize("state", [state for state in State if state is not State.PAUSED])
    def test_only_paused_jobs_can_be_resumed(self, backend: Backend, state: State) -> None:
        job_id = in_state(backend, state)
        before = the_job(backend, job_id)
        [acted] = backend.resume([job_id])
        assert acted.state is state
        assert acted.refused is not None
        assert the_job(backend, job_id) == before

    def test_a_job_pauses_and_resumes_many_times(self, backend: Backend) -> None:
        job_id = pushed(backend)
        for _ in range(5):
            assert backend.pause([job_id])[0].state is State.PAUSED
            assert backend.resume([job_id])[0].state is State.PENDING
        assert claim(backend).attempts == 1


class PausedQueue(Store):
    def test_nothing_is_claimed_from_a_paused_queue(self, backend: Backend) -> None:
        several(backend, 3)
        backend.pause_queue("mail")
        assert claims(backend) == []

    def test_a_paused_queue_accepts_pushes(self, backend: Backend) -> None:
        backend.pause_queue("mail")
        job_id = pushed(backend)
        assert state_of(backend, job_id) is State.PENDING
        assert claims(backend) == []

    def test_jobs_that_run_go_on_while_their_queue_is_paused(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend)
        backend.pause_queue("mail")
        clock.advance(30)
        pulse = beat(backend, job)
        assert (pulse.held, pulse.asked) == (True, None)
        assert settle(backend, ack(job)).state is State.COMPLETED

    def test_other_queues_go_on(self, backend: Backend) -> None:
        pushed(backend, queue="post")
        pushed(backend)
        backend.pause_queue("mail")
        jobs = backend.poll("w1", {"mail": 5, "post": 5}, lease=60)
        assert [job.queue for job in jobs] == ["post"]

    def test_a_resumed_queue_hands_out_everything_that_waited(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        pushed(backend, delay=30)
        backend.pause_queue("mail")
        several(backend, 2)
        clock.advance(60)
        backend.resume_queue("mail")
        assert len(claims(backend)) == 3

    def test_pausing_and_resuming_twice_is_harmless(self, backend: Backend) -> None:
        pushed(backend)
        backend.pause_queue("mail")
        backend.pause_queue("mail")
        backend.resume_queue("mail")
        assert len(claims(backend)) == 1
        backend.resume_queue("mail")

    def test_a_queue_can_be_paused_before_its_first_job(self, backend: Backend) -> None:
        backend.pause_queue("later")
        pushed(backend, queue="later")
        assert claims(backend, queue="later") == []

    def test_a_job_resumed_in_a_paused_queue_still_waits(self, backend: Backend) -> None:
        job_id = in_state(backend, State.PAUSED)
        backend.pause_queue("mail")
        backend.resume([job_id])
        assert state_of(backend, job_id) is State.PENDING
        assert claims(backend) == []
