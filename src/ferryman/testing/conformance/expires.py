"""push with `expires`: a job that did not start in time is cancelled, never run late."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.job import State
from ferryman.lifecycle import EXPIRED
from ferryman.testing.conformance.given import (
    a_message,
    ack,
    beat,
    claim,
    claimed,
    claims,
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


class Expires(Store):
    def test_the_deadline_counts_from_the_push(self, backend: Backend, clock: FakeClock) -> None:
        assert the_job(backend, pushed(backend, expires=90)).deadline == clock.now() + 90

    def test_a_job_is_claimable_before_its_deadline(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        pushed(backend, expires=60)
        clock.advance(59)
        assert len(claims(backend)) == 1

    def test_a_job_past_its_deadline_is_not_claimed(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        pushed(backend, "late", expires=60)
        pushed(backend, "on time", expires=3_600)
        clock.advance(61)
        assert [job.payload for job in claims(backend)] == ["on time"]

    def test_reap_cancels_a_pending_job_past_its_deadline(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job_id = pushed(backend, expires=60)
        clock.advance(61)
        [reaped] = backend.reap()
        assert (reaped.id, reaped.queue, reaped.task) == (job_id, "mail", "send")
        assert (reaped.state, reaped.worker) == (State.CANCELLED, None)
        assert state_of(backend, job_id) is State.CANCELLED

    def test_the_reason_is_kept_with_the_expired_job(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job_id = pushed(backend, expires=60)
        clock.advance(61)
        backend.reap()
        job = the_job(backend, job_id)
        [error] = job.errors
        assert (error.kind, error.text, error.at) == ("expired", EXPIRED, clock.now())
        assert (job.error, job.attempts, job.finished_at) == (EXPIRED, 0, clock.now())

    def test_reap_cancels_a_paused_job_past_its_deadline(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job_id = pushed(backend, expires=60)
        backend.pause([job_id])
        clock.advance(61)
        assert [reaped.state for reaped in backend.reap()] == [State.CANCELLED]
        assert the_job(backend, job_id).errors[0].kind == "expired"

    def test_reap_cancels_a_scheduled_job_that_could_only_start_late(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job_id = pushed(backend, delay=600, expires=60)
        clock.advance(61)
        assert [reaped.id for reaped in backend.reap()] == [job_id]

    def test_reap_leaves_jobs_before_their_deadline_alone(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        pushed(backend, expires=60)
        pushed(backend)
        clock.advance(59)
        assert list(backend.reap()) == []

    def test_an_expired_job_is_reaped_once(self, backend: Backend, clock: FakeClock) -> None:
        pushed(backend, expires=60)
        clock.advance(61)
        assert len(backend.reap()) == 1
        assert list(backend.reap()) == []

    def test_reap_cancels_at_most_limit_the_longest_overdue_first(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        later = several(backend, 2, expires=50)
        sooner = several(backend, 2, expires=20)
        clock.advance(61)
        assert sorted(reaped.id for reaped in backend.reap(limit=2)) == sorted(sooner)
        assert sorted(reaped.id for reaped in backend.reap(limit=2)) == sorted(later)

    def test_a_deadline_that_was_seen_first_does_not_go_before_an_earlier_one(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        later = pushed(backend, expires=50)
        assert list(backend.reap()) == []
        sooner = pushed(backend, expires=20)
        clock.advance(61)
        assert [reaped.id for reaped in backend.reap(limit=1)] == [sooner]
        assert [reaped.id for reaped in backend.reap(limit=1)] == [later]

    def test_a_deadline_that_replaced_another_counts_from_then_among_the_overdue(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        put_off = pushed(backend, id="put off", expires=20)
        overdue = pushed(backend, id="overdue", expires=30)
        backend.push([a_message("anew", id="put off", expires=40, replace=True)])
        clock.advance(61)
        assert [reaped.id for reaped in backend.reap(limit=1)] == [overdue]
        assert [reaped.id for reaped in backend.reap(limit=1)] == [put_off]

    def test_a_job_that_started_in_time_may_finish_late(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend, expires=60, lease=600)
        clock.advance(120)
        assert list(backend.reap()) == []
        assert beat(backend, job, lease=600).held
        assert settle(backend, ack(job)).state is State.COMPLETED

    def test_a_job_that_failed_once_is_not_tried_again_after_its_deadline(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend, expires=60)
        clock.advance(61)
        settle(backend, nack(job, delay=0))
        assert claims(backend) == []
        assert [reaped.state for reaped in backend.reap()] == [State.CANCELLED]
        assert [error.kind for error in the_job(backend, job.id).errors] == [
            "ValueError",
            "expired",
        ]

    def test_a_resumed_job_past_its_deadline_is_not_claimed(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job_id = pushed(backend, expires=60)
        backend.pause([job_id])
        clock.advance(61)
        backend.resume([job_id])
        assert claims(backend) == []

    def test_a_retried_job_has_no_deadline_any_more(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job_id = pushed(backend, expires=60)
        clock.advance(61)
        backend.reap()
        backend.retry([job_id])
        assert the_job(backend, job_id).deadline is None
        assert claim(backend).id == job_id
