"""The transition table: one case for each row, and one for everything that is in no row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.job import Job, State
from ferryman.lifecycle import WORKER_TIMED_OUT, Verdict
from ferryman.testing.conformance.given import (
    STEADY,
    ack,
    beat,
    call_off,
    claim,
    claimed,
    fail,
    give_back,
    in_state,
    nack,
    pushed,
    settle,
    settlement,
    state_of,
    the_job,
)
from ferryman.testing.conformance.store import Store

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend
    from ferryman.testing.clock import FakeClock

FINISHED = (State.COMPLETED, State.FAILED, State.CANCELLED)


class Lifecycle(Store):
    def test_from_nothing_by_push_to_pending(self, backend: Backend) -> None:
        assert state_of(backend, pushed(backend)) is State.PENDING

    def test_from_pending_and_due_by_poll_to_processing(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        before = the_job(backend, pushed(backend))
        job = claim(backend, worker="w1", lease=60)
        assert job.state is State.PROCESSING
        assert (job.fence, job.attempts) == (before.fence + 1, before.attempts + 1)
        assert (job.worker, job.started_at, job.expires_at) == ("w1", clock.now(), clock.now() + 60)

    def test_from_processing_by_ack_to_completed_with_the_result(self, backend: Backend) -> None:
        job = claimed(backend)
        assert settle(backend, ack(job, "42")).state is State.COMPLETED
        assert the_job(backend, job.id).result == "42"

    def test_from_processing_by_ack_to_cancelled_if_cancel_was_asked(
        self, backend: Backend
    ) -> None:
        job = claimed(backend)
        backend.cancel([job.id])
        assert settle(backend, ack(job, "42")).state is State.CANCELLED
        assert the_job(backend, job.id).result == "42"

    @pytest.mark.parametrize("verdict", [Verdict.NACK, Verdict.EXPIRE])
    def test_from_processing_by_an_error_to_pending_by_backoff(
        self, backend: Backend, clock: FakeClock, verdict: Verdict
    ) -> None:
        job = claimed(backend, backoff=STEADY)
        end_badly(backend, clock, job, verdict)
        found = the_job(backend, job.id)
        assert (found.state, found.ready_at) == (State.PENDING, clock.now() + 10)
        assert (len(found.errors), found.attempts) == (1, 1)

    @pytest.mark.parametrize("verdict", [Verdict.NACK, Verdict.EXPIRE])
    @pytest.mark.parametrize(("asked", "after"), [("cancel", "cancelled"), ("pause", "paused")])
    def test_from_processing_by_an_error_to_what_was_asked(
        self, backend: Backend, clock: FakeClock, verdict: Verdict, asked: str, after: State
    ) -> None:
        job = claimed(backend)
        backend.cancel([job.id]) if asked == "cancel" else backend.pause([job.id])
        end_badly(backend, clock, job, verdict)
        found = the_job(backend, job.id)
        assert (found.state, len(found.errors)) == (after, 1)

    def test_from_processing_by_an_error_at_the_last_attempt_to_failed(
        self, backend: Backend
    ) -> None:
        job = claimed(backend, max_attempts=1)
        assert settle(backend, nack(job)).state is State.FAILED

    def test_from_processing_by_fail_to_failed(self, backend: Backend) -> None:
        assert settle(backend, fail(claimed(backend))).state is State.FAILED

    def test_from_processing_by_an_expired_lease_at_the_last_attempt_to_failed_worker_timed_out(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend, max_attempts=1)
        clock.advance(61)
        backend.reap()
        found = the_job(backend, job.id)
        assert (found.state, found.error) == (State.FAILED, WORKER_TIMED_OUT)

    def test_from_processing_by_giving_back_to_pending_uncharged(self, backend: Backend) -> None:
        job = claimed(backend)
        assert settle(backend, give_back(job)).state is State.PENDING
        assert the_job(backend, job.id).attempts == 0

    def test_from_processing_by_the_handlers_cancel_to_cancelled(self, backend: Backend) -> None:
        assert settle(backend, call_off(claimed(backend))).state is State.CANCELLED

    def test_from_pending_by_pause_to_paused(self, backend: Backend) -> None:
        assert backend.pause([pushed(backend)])[0].state is State.PAUSED

    def test_from_pending_by_cancel_to_cancelled(self, backend: Backend) -> None:
        assert backend.cancel([pushed(backend)])[0].state is State.CANCELLED

    def test_from_processing_by_pause_asked_then_paused_with_the_attempt_given_back(
        self, backend: Backend
    ) -> None:
        job = claimed(backend)
        assert backend.pause([job.id])[0].state is State.PROCESSING
        assert beat(backend, job, checkpoint="7").asked == "pause"
        assert settle(backend, give_back(job)).state is State.PAUSED
        found = the_job(backend, job.id)
        assert (found.stored_checkpoint, found.attempts) == ("7", 0)

    def test_from_processing_by_cancel_asked_then_cancelled(self, backend: Backend) -> None:
        job = claimed(backend)
        assert backend.cancel([job.id])[0].state is State.PROCESSING
        assert beat(backend, job).asked == "cancel"
        assert settle(backend, give_back(job)).state is State.CANCELLED

    def test_from_paused_by_resume_to_pending(self, backend: Backend) -> None:
        assert backend.resume([in_state(backend, State.PAUSED)])[0].state is State.PENDING

    def test_from_paused_by_cancel_to_cancelled(self, backend: Backend) -> None:
        assert backend.cancel([in_state(backend, State.PAUSED)])[0].state is State.CANCELLED

    @pytest.mark.parametrize("state", FINISHED)
    def test_from_finished_by_retry_to_pending_with_a_new_generation(
        self, backend: Backend, state: State
    ) -> None:
        job_id = in_state(backend, state)
        assert backend.retry([job_id])[0].state is State.PENDING
        assert the_job(backend, job_id).generation == 2

    @pytest.mark.parametrize(
        ("state", "verb"),
        [
            *((state, verb) for state in FINISHED for verb in ("cancel", "pause", "resume")),
            *((State.PENDING, verb) for verb in ("resume", "retry")),
            *((State.PROCESSING, verb) for verb in ("resume", "retry", "delete")),
            *((State.PAUSED, verb) for verb in ("pause", "retry")),
        ],
    )
    def test_anything_else_is_refused_with_a_clear_error(
        self, backend: Backend, state: State, verb: str
    ) -> None:
        job_id = in_state(backend, state)
        before = the_job(backend, job_id)
        [acted] = getattr(backend, verb)([job_id])
        assert (acted.id, acted.state) == (job_id, state)
        assert job_id in acted.refused
        assert state in acted.refused
        assert the_job(backend, job_id) == before

    @pytest.mark.parametrize("state", FINISHED)
    def test_a_terminal_state_never_changes_except_by_retry(
        self, backend: Backend, clock: FakeClock, state: State
    ) -> None:
        job_id = in_state(backend, state)
        before = the_job(backend, job_id)
        for verdict in Verdict:
            settle(backend, settlement(before, verdict))
        for act in (backend.cancel, backend.pause, backend.resume):
            act([job_id])
        backend.purge("mail")
        clock.advance(3_600)
        backend.reap()
        assert the_job(backend, job_id) == before


def end_badly(backend: Backend, clock: FakeClock, job: Job, verdict: Verdict) -> None:
    """End a claim by its handler's error, or by the death of its worker."""
    if verdict is Verdict.NACK:
        settle(backend, nack(job))
    else:
        clock.advance(61)
        backend.reap()
