"""push: jobs for later. `ready_at` is never early, whatever the clock does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.job import State
from ferryman.message import MAX_SECONDS
from ferryman.testing.conformance.given import (
    claim,
    claimed,
    claims,
    give_back,
    pushed,
    settle,
    state_of,
    the_job,
)
from ferryman.testing.conformance.store import Store, needs

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend
    from ferryman.testing.clock import FakeClock

# A binary fraction near a millisecond, so that sums of times are exact.
MILLISECOND = 1 / 1024


class Delay(Store):
    def test_a_delayed_job_is_pending_but_not_claimable(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job_id = pushed(backend, delay=30)
        assert the_job(backend, job_id).ready_at == clock.now() + 30
        assert state_of(backend, job_id) is State.PENDING
        assert claims(backend) == []

    def test_a_delayed_job_is_not_a_millisecond_early(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        pushed(backend, delay=30)
        clock.advance(30 - MILLISECOND)
        assert claims(backend) == []
        clock.advance(MILLISECOND)
        assert len(claims(backend)) == 1

    def test_ready_at_is_a_moment(self, backend: Backend, clock: FakeClock) -> None:
        job_id = pushed(backend, ready_at=clock.now() + 90)
        clock.advance(90 - MILLISECOND)
        assert claims(backend) == []
        clock.advance(MILLISECOND)
        assert claim(backend).id == job_id

    def test_a_moment_in_the_past_is_ready_now(self, backend: Backend, clock: FakeClock) -> None:
        pushed(backend, ready_at=clock.now() - 3_600)
        assert len(claims(backend)) == 1

    def test_the_delay_counts_from_the_push(self, backend: Backend, clock: FakeClock) -> None:
        clock.advance(1_000)
        job_id = pushed(backend, delay=30)
        assert the_job(backend, job_id).ready_at == clock.now() + 30

    def test_a_clock_that_steps_back_makes_nothing_early(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job_id = pushed(backend, delay=60)
        ready_at = the_job(backend, job_id).ready_at
        clock.step(-3_600)
        clock.advance(60)
        assert claims(backend) == []
        clock.step(ready_at - clock.now())
        assert claim(backend).id == job_id

    def test_a_clock_that_steps_back_after_the_job_was_due_makes_nothing_early(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        pushed(backend, "first", delay=60)
        pushed(backend, "second", delay=60)
        clock.advance(61)
        assert len(claims(backend, 1)) == 1
        clock.step(-30)
        assert claims(backend) == []
        clock.advance(30)
        assert len(claims(backend)) == 1

    def test_a_snoozed_job_is_not_early_when_the_clock_steps_back(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend)
        settle(backend, give_back(job, delay=20))
        clock.step(-600)
        clock.advance(20)
        assert claims(backend) == []
        clock.advance(600)
        assert claim(backend).id == job.id

    def test_a_clock_that_jumps_ahead_makes_jobs_due(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        pushed(backend, delay=60)
        clock.step(60)
        assert len(claims(backend)) == 1

    def test_many_delays_come_due_one_after_another(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        for number in (3, 1, 4, 2, 5):
            pushed(backend, number, delay=number * 10)
        seen = []
        for _ in range(5):
            clock.advance(10)
            seen += [job.payload for job in claims(backend)]
        assert seen == [1, 2, 3, 4, 5]

    def test_the_longest_delay_is_ten_years(self, backend: Backend, clock: FakeClock) -> None:
        needs(backend, "max_delay")
        job_id = pushed(backend, delay=MAX_SECONDS)
        clock.advance(MAX_SECONDS - 1)
        assert claims(backend) == []
        clock.advance(1)
        assert claim(backend).id == job_id

    def test_a_scheduled_job_is_counted_as_scheduled_until_it_is_due(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        pushed(backend, delay=30)
        counts = backend.snapshot().queues["mail"]
        assert (counts.states[State.PENDING], counts.scheduled, counts.ready) == (1, 1, 0)
        clock.advance(30)
        counts = backend.snapshot().queues["mail"]
        assert (counts.states[State.PENDING], counts.scheduled, counts.ready) == (1, 0, 1)
