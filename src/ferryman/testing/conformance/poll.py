"""poll: what a claim is, and what is left alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.job import State
from ferryman.testing.conformance.given import (
    a_message,
    ack,
    beat,
    claim,
    claimed,
    claims,
    in_state,
    nack,
    pushed,
    settle,
    several,
    state_of,
    the_job,
)
from ferryman.testing.conformance.store import Store, needs

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend
    from ferryman.testing.clock import FakeClock


class Poll(Store):
    def test_a_claim_names_its_worker_and_its_lease(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        pushed(backend)
        job = claim(backend, worker="w9", lease=45)
        assert (job.state, job.fence, job.attempts, job.worker) == (State.PROCESSING, 1, 1, "w9")
        assert (job.started_at, job.heartbeat_at) == (clock.now(), clock.now())
        assert job.expires_at == clock.now() + 45

    def test_a_claim_is_recorded_as_it_was_answered(self, backend: Backend) -> None:
        job = claimed(backend, {"to": "ana"}, key="ana", meta={"user_id": "42"})
        assert the_job(backend, job.id) == job

    def test_a_claimed_job_is_invisible_to_others(self, backend: Backend) -> None:
        claimed(backend)
        assert claims(backend, worker="other") == []

    def test_a_claimed_job_is_invisible_to_its_own_worker(self, backend: Backend) -> None:
        claimed(backend, worker="w1")
        assert claims(backend, worker="w1") == []

    def test_an_empty_store_gives_nothing(self, backend: Backend) -> None:
        assert claims(backend) == []

    def test_an_unknown_queue_gives_nothing(self, backend: Backend) -> None:
        pushed(backend)
        assert claims(backend, queue="nowhere") == []

    def test_polling_no_queue_gives_nothing(self, backend: Backend) -> None:
        pushed(backend)
        assert list(backend.poll("w1", {}, lease=60)) == []

    def test_at_most_the_given_number_is_claimed(self, backend: Backend) -> None:
        several(backend, 5)
        assert len(claims(backend, 3)) == 3
        assert len(claims(backend, 3)) == 2

    def test_a_limit_of_zero_claims_nothing(self, backend: Backend) -> None:
        pushed(backend)
        assert claims(backend, 0) == []

    def test_each_queue_has_its_own_limit(self, backend: Backend) -> None:
        for queue in ("a", "b", "c"):
            several(backend, 4, queue=queue)
        jobs = backend.poll("w1", {"a": 1, "b": 3, "d": 5}, lease=60)
        assert sorted(job.queue for job in jobs) == ["a", "b", "b", "b"]

    def test_a_queue_is_not_held_up_by_an_empty_one(self, backend: Backend) -> None:
        pushed(backend, queue="b")
        jobs = backend.poll("w1", {"a": 1, "b": 1, "c": 1}, lease=60)
        assert [job.queue for job in jobs] == ["b"]

    @pytest.mark.parametrize("state", [state for state in State if state is not State.PENDING])
    def test_only_pending_jobs_are_claimed(self, backend: Backend, state: State) -> None:
        in_state(backend, state)
        assert claims(backend) == []

    def test_tasks_to_skip_are_left_alone(self, backend: Backend) -> None:
        pushed(backend, "skipped", task="archive")
        pushed(backend, "taken", task="send")
        jobs = backend.poll("w1", {"mail": 10}, lease=60, skip_tasks=["archive", "extract"])
        assert [job.payload for job in jobs] == ["taken"]
        assert [job.payload for job in claims(backend)] == ["skipped"]

    def test_skipped_jobs_do_not_use_up_the_limit(self, backend: Backend) -> None:
        several(backend, 150, task="archive", priority=10)
        pushed(backend, "behind them", task="send")
        jobs = backend.poll("w1", {"mail": 1}, lease=60, skip_tasks={"archive"})
        assert [job.payload for job in jobs] == ["behind them"]

    def test_skipping_every_task_gives_nothing(self, backend: Backend) -> None:
        pushed(backend)
        assert list(backend.poll("w1", {"mail": 1}, lease=60, skip_tasks=["send"])) == []

    def test_whoever_skips_tasks_leaves_a_paused_queue_alone_too(self, backend: Backend) -> None:
        job_id = pushed(backend)
        backend.pause_queue("mail")
        assert skipping(backend) == []
        backend.resume_queue("mail")
        assert skipping(backend) == [job_id]

    def test_whoever_skips_tasks_leaves_a_job_past_its_deadline_alone_too(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        late = pushed(backend, expires=60)
        clock.advance(61)
        other = pushed(backend)
        assert skipping(backend) == [other]
        assert state_of(backend, late) is State.PENDING

    @pytest.mark.parametrize("limit", [1, 3])
    def test_of_several_tasks_no_more_are_claimed_than_asked_for_and_the_first_of_all(
        self, backend: Backend, limit: int
    ) -> None:
        needs(backend, "order")
        ids = [pushed(backend, task=task) for task in ("c", "slow", "a", "b", "c", "a", "b")]
        expected = [ids[place] for place in (0, 2, 3, 4, 5, 6)]
        assert skipping(backend, limit) == expected[:limit]
        assert skipping(backend) == expected[limit:]

    def test_the_fence_grows_with_every_claim(self, backend: Backend) -> None:
        pushed(backend, max_attempts=9)
        fences = []
        for _ in range(4):
            job = claim(backend)
            fences.append(job.fence)
            settle(backend, nack(job, delay=0))
        assert fences == [1, 2, 3, 4]

    def test_a_claim_after_a_nack_is_a_second_attempt_with_new_times(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        settle(backend, nack(claimed(backend, worker="w1"), delay=0))
        clock.advance(5)
        job = claim(backend, worker="w2")
        assert (job.attempts, job.worker, job.started_at) == (2, "w2", clock.now())
        assert job.expires_at == clock.now() + 60

    def test_a_claim_carries_the_checkpoint_of_the_attempt_before(self, backend: Backend) -> None:
        job = claimed(backend)
        beat(backend, job, checkpoint='{"page":40}')
        settle(backend, nack(job, delay=0))
        assert claim(backend).stored_checkpoint == '{"page":40}'

    def test_a_claim_leaves_errors_and_logs_to_get(self, backend: Backend) -> None:
        settle(backend, nack(claimed(backend), "boom", delay=0))
        job = claim(backend)
        assert (job.errors, job.logs, job.error) == ((), (), "boom")
        assert len(the_job(backend, job.id).errors) == 1

    def test_the_last_attempt_can_be_the_only_one(self, backend: Backend) -> None:
        job = claimed(backend, max_attempts=1)
        assert (job.attempts, job.max_attempts) == (1, 1)
        assert settle(backend, ack(job)).state is State.COMPLETED

    def test_claims_of_several_queues_are_separate_leases(self, backend: Backend) -> None:
        backend.push([a_message(queue="a"), a_message(queue="b")])
        first, second = backend.poll("w1", {"a": 1, "b": 1}, lease=60)
        assert settle(backend, ack(first)).applied
        assert beat(backend, second).held


def skipping(backend: Backend, limit: int = 100) -> list[str]:
    """Claim whatever is not of one task; their ids."""
    jobs = backend.poll("w1", {"mail": limit}, lease=60, skip_tasks=["slow"])
    return [job.id for job in jobs]
