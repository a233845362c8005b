"""retry: a finished job gets a new budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.job import State
from ferryman.testing.conformance.given import (
    STEADY,
    a_message,
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
    state_of,
    the_job,
)
from ferryman.testing.conformance.heartbeat import log_lines
from ferryman.testing.conformance.store import Store

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend
    from ferryman.testing.clock import FakeClock

FINISHED = (State.COMPLETED, State.FAILED, State.CANCELLED)


class Retry(Store):
    @pytest.mark.parametrize("state", FINISHED)
    def test_a_finished_job_is_pending_again_ready_now(
        self, backend: Backend, clock: FakeClock, state: State
    ) -> None:
        job_id = in_state(backend, state, "body")
        clock.advance(100)
        [acted] = backend.retry([job_id])
        assert (acted.id, acted.state, acted.refused) == (job_id, State.PENDING, None)
        job = the_job(backend, job_id)
        assert (job.state, job.ready_at, job.finished_at) == (State.PENDING, clock.now(), None)
        assert (job.generation, job.attempts, job.given_back) == (2, 0, 0)
        assert claim(backend).payload == "body"

    def test_a_retried_job_has_its_whole_budget_again(self, backend: Backend) -> None:
        job = claimed(backend, max_attempts=2)
        settle(backend, nack(job, delay=0))
        settle(backend, nack(claim(backend), delay=0))
        backend.retry([job.id])
        assert settle(backend, nack(claim(backend), delay=0)).state is State.PENDING
        assert settle(backend, nack(claim(backend), delay=0)).state is State.FAILED

    def test_a_retried_job_forgets_the_turns_given_back(self, backend: Backend) -> None:
        job = claimed(backend)
        settle(backend, give_back(job))
        settle(backend, fail(claim(backend)))
        assert the_job(backend, job.id).given_back == 1
        backend.retry([job.id])
        assert the_job(backend, job.id).given_back == 0

    def test_errors_logs_and_checkpoint_are_kept(self, backend: Backend) -> None:
        job = claimed(backend)
        beat(backend, job, checkpoint='{"page":40}', logs=log_lines(0, 2))
        settle(backend, fail(job, "bad address"))
        backend.retry([job.id])
        found = the_job(backend, job.id)
        assert [error.text for error in found.errors] == ["bad address"]
        assert (found.logs, found.stored_checkpoint) == (log_lines(0, 2), '{"page":40}')

    def test_result_progress_and_deadline_are_cleared(self, backend: Backend) -> None:
        job = claimed(backend, expires=600)
        beat(backend, job, percent=90, note="almost")
        settle(backend, ack(job, '"done"'))
        backend.retry([job.id])
        found = the_job(backend, job.id)
        assert (found.result, found.percent, found.note, found.deadline) == (None,) * 4

    def test_a_retried_job_has_no_worker_until_it_is_claimed(self, backend: Backend) -> None:
        job_id = in_state(backend, State.FAILED)
        backend.retry([job_id])
        found = the_job(backend, job_id)
        assert (found.worker, found.expires_at) == (None, None)

    def test_the_fence_goes_on_growing_over_generations(self, backend: Backend) -> None:
        job = claimed(backend)
        settle(backend, fail(job))
        backend.retry([job.id])
        again = claim(backend)
        assert (again.fence, again.attempts, again.generation) == (2, 1, 2)

    def test_every_retry_is_a_generation(self, backend: Backend) -> None:
        job_id = in_state(backend, State.FAILED)
        for _ in range(3):
            backend.retry([job_id])
            settle(backend, fail(claim(backend)))
        assert the_job(backend, job_id).generation == 4

    def test_a_claim_of_the_generation_before_cannot_settle(self, backend: Backend) -> None:
        old = claimed(backend)
        settle(backend, fail(old))
        backend.retry([old.id])
        claim(backend)
        assert not settle(backend, ack(old)).applied
        assert not beat(backend, old, percent=1).held
        assert state_of(backend, old.id) is State.PROCESSING

    def test_the_old_ending_sent_again_does_not_end_the_new_generation(
        self, backend: Backend
    ) -> None:
        old = claimed(backend)
        settle(backend, fail(old))
        backend.retry([old.id])
        settle(backend, fail(old))
        found = the_job(backend, old.id)
        assert (found.state, len(found.errors)) == (State.PENDING, 1)

    def test_backoff_starts_again_with_the_new_budget(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend, backoff=STEADY, max_attempts=2)
        settle(backend, nack(job, delay=0))
        settle(backend, nack(claim(backend)))
        backend.retry([job.id])
        settle(backend, nack(claim(backend)))
        assert the_job(backend, job.id).ready_at == clock.now() + 10

    @pytest.mark.parametrize("state", [State.PENDING, State.PROCESSING, State.PAUSED])
    def test_an_unfinished_job_cannot_be_retried(self, backend: Backend, state: State) -> None:
        job_id = in_state(backend, state)
        before = the_job(backend, job_id)
        [acted] = backend.retry([job_id])
        assert acted.state is state
        assert acted.refused is not None
        assert job_id in acted.refused
        assert the_job(backend, job_id) == before

    def test_the_second_retry_of_one_job_is_refused(self, backend: Backend) -> None:
        job_id = in_state(backend, State.FAILED)
        first, second = backend.retry([job_id, job_id])
        assert (first.refused is None, second.refused is None) == (True, False)
        assert the_job(backend, job_id).generation == 2

    @pytest.mark.parametrize("holder", [State.PENDING, State.PROCESSING, State.PAUSED])
    def test_retry_is_refused_while_an_unfinished_job_holds_the_key(
        self, backend: Backend, holder: State
    ) -> None:
        job_id = in_state(backend, State.FAILED, key="ana")
        in_state(backend, holder, key="ana")
        [acted] = backend.retry([job_id])
        assert (acted.state, acted.refused is None) == (State.FAILED, False)
        assert (state_of(backend, job_id), the_job(backend, job_id).generation) == ("failed", 1)

    def test_retry_is_allowed_again_when_the_key_is_free(self, backend: Backend) -> None:
        job_id = in_state(backend, State.FAILED, key="ana")
        settle(backend, ack(claimed(backend, key="ana")))
        assert backend.retry([job_id])[0].refused is None

    def test_a_key_of_another_queue_does_not_refuse_a_retry(self, backend: Backend) -> None:
        job_id = in_state(backend, State.FAILED, key="ana")
        pushed(backend, queue="post", key="ana")
        assert backend.retry([job_id])[0].state is State.PENDING

    def test_of_two_finished_jobs_with_one_key_only_one_is_retried(self, backend: Backend) -> None:
        ids = [in_state(backend, State.FAILED, key="ana") for _ in range(2)]
        acted = backend.retry(ids)
        assert [answer.refused is None for answer in acted] == [True, False]
        assert [state_of(backend, job_id) for job_id in ids] == ["pending", "failed"]

    def test_a_retried_job_holds_its_key_again(self, backend: Backend) -> None:
        job_id = in_state(backend, State.FAILED, key="ana")
        backend.retry([job_id])
        [answer] = backend.push([a_message("other", key="ana")])
        assert (answer.id, answer.status) == (job_id, "existing")

    def test_a_retried_id_is_still_known(self, backend: Backend) -> None:
        job_id = in_state(backend, State.FAILED, "body")
        backend.retry([job_id])
        assert backend.push([a_message("body", id=job_id)])[0].status == "existing"
        assert len(claims(backend)) == 1
