"""cancel: waiting jobs at once, running ones by asking their worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.job import State
from ferryman.testing.conformance.given import (
    ack,
    beat,
    call_off,
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


class Cancel(Store):
    @pytest.mark.parametrize("state", [State.PENDING, State.PAUSED])
    def test_a_waiting_job_is_cancelled_at_once(
        self, backend: Backend, clock: FakeClock, state: State
    ) -> None:
        job_id = in_state(backend, state)
        clock.advance(5)
        [acted] = backend.cancel([job_id])
        assert (acted.id, acted.state, acted.refused) == (job_id, State.CANCELLED, None)
        job = the_job(backend, job_id)
        assert (job.state, job.finished_at) == (State.CANCELLED, clock.now())

    def test_a_cancelled_job_never_starts(self, backend: Backend, clock: FakeClock) -> None:
        ids = [pushed(backend), pushed(backend, delay=30)]
        backend.cancel(ids)
        clock.advance(60)
        assert claims(backend) == []

    def test_a_running_job_is_only_asked(self, backend: Backend) -> None:
        job = claimed(backend)
        [acted] = backend.cancel([job.id])
        assert (acted.state, acted.refused) == (State.PROCESSING, None)
        found = the_job(backend, job.id)
        assert (found.state, found.asked, found.finished_at) == (State.PROCESSING, "cancel", None)

    def test_asking_twice_is_asking_once(self, backend: Backend) -> None:
        job = claimed(backend)
        backend.cancel([job.id])
        assert backend.cancel([job.id])[0].refused is None
        assert beat(backend, job).asked == "cancel"

    def test_a_cancel_overrides_a_pause_that_was_asked(self, backend: Backend) -> None:
        job = claimed(backend)
        backend.pause([job.id])
        backend.cancel([job.id])
        assert the_job(backend, job.id).asked == "cancel"
        assert settle(backend, give_back(job)).state is State.CANCELLED

    def test_a_pause_takes_no_cancel_back_that_was_asked(self, backend: Backend) -> None:
        job = claimed(backend)
        backend.cancel([job.id])
        backend.pause([job.id])
        assert the_job(backend, job.id).asked == "cancel"
        assert settle(backend, nack(job)).state is State.CANCELLED

    def test_a_running_job_that_was_asked_and_stops_is_cancelled(self, backend: Backend) -> None:
        job = claimed(backend)
        backend.cancel([job.id])
        assert settle(backend, call_off(job)).state is State.CANCELLED

    def test_a_nack_after_cancel_was_asked_is_cancelled_with_its_error(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend)
        backend.cancel([job.id])
        assert settle(backend, nack(job, "interrupted", delay=0)).state is State.CANCELLED
        found = the_job(backend, job.id)
        assert (found.error, found.finished_at) == ("interrupted", clock.now())
        assert claims(backend) == []

    def test_a_nack_at_the_last_attempt_after_cancel_was_asked_is_cancelled(
        self, backend: Backend
    ) -> None:
        job = claimed(backend, max_attempts=1)
        backend.cancel([job.id])
        assert settle(backend, nack(job)).state is State.CANCELLED

    def test_a_claim_given_back_after_cancel_was_asked_is_cancelled(self, backend: Backend) -> None:
        job = claimed(backend)
        backend.cancel([job.id])
        assert settle(backend, give_back(job)).state is State.CANCELLED
        assert the_job(backend, job.id).attempts == 0

    def test_an_ack_after_cancel_was_asked_is_cancelled_and_keeps_the_result(
        self, backend: Backend
    ) -> None:
        job = claimed(backend)
        backend.cancel([job.id])
        assert settle(backend, ack(job, '"late"')).state is State.CANCELLED
        assert the_job(backend, job.id).result == '"late"'

    def test_fail_after_cancel_was_asked_is_failed(self, backend: Backend) -> None:
        job = claimed(backend)
        backend.cancel([job.id])
        assert settle(backend, fail(job)).state is State.FAILED

    @pytest.mark.parametrize("state", [State.COMPLETED, State.FAILED, State.CANCELLED])
    def test_a_finished_job_cannot_be_cancelled(self, backend: Backend, state: State) -> None:
        job_id = in_state(backend, state)
        before = the_job(backend, job_id)
        [acted] = backend.cancel([job_id])
        assert acted.state is state
        assert acted.refused is not None
        assert job_id in acted.refused
        assert the_job(backend, job_id) == before

    def test_a_cancelled_job_that_is_retried_is_no_longer_asked_to_stop(
        self, backend: Backend
    ) -> None:
        job = claimed(backend)
        backend.cancel([job.id])
        settle(backend, call_off(job))
        backend.retry([job.id])
        again = claim(backend)
        assert (again.id, again.asked, beat(backend, again).asked) == (job.id, None, None)

    def test_a_mixed_batch_is_answered_in_order(self, backend: Backend) -> None:
        ids = [in_state(backend, state, queue=state.value) for state in State]
        acted = backend.cancel([*ids, "nobody"])
        assert [answer.id for answer in acted] == [*ids, "nobody"]
        assert [(answer.state, answer.refused is None) for answer in acted[:-1]] == [
            ("cancelled", True),
            ("processing", True),
            ("completed", False),
            ("failed", False),
            ("cancelled", False),
            ("cancelled", True),
        ]
        assert acted[-1].state is None

    def test_many_jobs_are_cancelled_at_once(self, backend: Backend) -> None:
        ids = several(backend, self.many)
        assert {answer.state for answer in backend.cancel(ids)} == {State.CANCELLED}
        assert backend.snapshot().count(State.CANCELLED) == self.many

    def test_cancelling_leaves_other_jobs_alone(self, backend: Backend) -> None:
        first, second = several(backend, 2)
        backend.cancel([first])
        assert state_of(backend, second) is State.PENDING
