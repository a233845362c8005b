"""poll: who comes first within a queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.testing.conformance.given import (
    a_message,
    claim,
    claims,
    fail,
    give_back,
    pushed,
    settle,
    several,
)
from ferryman.testing.conformance.store import Store, needs

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend
    from ferryman.testing.clock import FakeClock


class Order(Store):
    def test_equal_jobs_come_in_push_order(self, backend: Backend) -> None:
        needs(backend, "order")
        ids = several(backend, 50) + [pushed(backend) for _ in range(50)]
        assert [job.id for job in claims(backend, 100)] == ids

    def test_push_order_holds_over_single_claims(self, backend: Backend) -> None:
        needs(backend, "order")
        ids = several(backend, 10)
        assert [claim(backend).id for _ in ids] == ids

    def test_higher_priority_comes_first(self, backend: Backend) -> None:
        needs(backend, "order")
        for priority in (0, -10, 10, 5, -1):
            pushed(backend, priority, priority=priority)
        assert payloads(backend) == [10, 5, 0, -1, -10]

    def test_priority_goes_before_ready_at(self, backend: Backend, clock: FakeClock) -> None:
        needs(backend, "order")
        pushed(backend, "early", priority=0)
        pushed(backend, "important", priority=1, delay=30)
        clock.advance(30)
        assert payloads(backend) == ["important", "early"]

    def test_earlier_ready_at_comes_first_within_a_priority(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        needs(backend, "order")
        pushed(backend, "ready at 10", delay=10)
        clock.advance(5)
        pushed(backend, "ready at 5")
        clock.advance(10)
        pushed(backend, "ready at 15")
        assert payloads(backend) == ["ready at 5", "ready at 10", "ready at 15"]

    def test_a_job_that_was_seen_first_is_not_claimed_before_one_that_is_due_earlier(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        needs(backend, "order")
        pushed(backend, "ready at 40", delay=40)
        assert claims(backend) == []
        pushed(backend, "ready at 5", delay=5)
        clock.advance(60)
        assert payloads(backend) == ["ready at 5", "ready at 40"]

    def test_jobs_ready_at_one_moment_come_in_push_order(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        needs(backend, "order")
        moment = clock.now() + 30
        pushed(backend, "first", ready_at=moment)
        pushed(backend, "second", delay=30)
        clock.advance(10)
        pushed(backend, "third", delay=20)
        clock.advance(20)
        assert payloads(backend) == ["first", "second", "third"]

    def test_a_scheduled_job_of_high_priority_does_not_hide_a_ready_one(
        self, backend: Backend
    ) -> None:
        pushed(backend, "later", priority=100, delay=60)
        pushed(backend, "now")
        assert payloads(backend) == ["now"]

    def test_a_job_given_back_for_later_lines_up_by_its_new_ready_at(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        needs(backend, "order")
        pushed(backend, "snoozed")
        settle(backend, give_back(claim(backend), delay=10))
        clock.advance(5)
        pushed(backend, "pushed meanwhile")
        clock.advance(5)
        assert payloads(backend) == ["pushed meanwhile", "snoozed"]

    def test_a_retried_job_lines_up_behind_those_that_were_ready_before(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        needs(backend, "order")
        pushed(backend, "failed")
        job = claim(backend)
        settle(backend, fail(job))
        clock.advance(1)
        pushed(backend, "pushed meanwhile")
        clock.advance(1)
        backend.retry([job.id])
        assert payloads(backend) == ["pushed meanwhile", "failed"]

    def test_a_resumed_job_has_its_old_place(self, backend: Backend, clock: FakeClock) -> None:
        needs(backend, "order")
        first = pushed(backend, "first")
        backend.pause([first])
        clock.advance(5)
        pushed(backend, "second")
        backend.resume([first])
        assert payloads(backend) == ["first", "second"]

    def test_a_replaced_priority_moves_the_job(self, backend: Backend) -> None:
        needs(backend, "order")
        pushed(backend, "first")
        pushed(backend, "second", key="ana")
        urgent = a_message("second, urgent", key="ana", unique="replace", priority=9)
        [answer] = backend.push([urgent])
        assert answer.status == "replaced"
        assert payloads(backend) == ["second, urgent", "first"]

    def test_a_mixed_queue_is_sorted_by_all_three(self, backend: Backend, clock: FakeClock) -> None:
        needs(backend, "order")
        expected = []
        for number in range(60):
            priority, delay = number * 7 % 3, number * 11 % 5
            pushed(backend, number, priority=priority, ready_at=clock.now() + delay)
            expected.append((-priority, delay, number))
        clock.advance(5)
        assert payloads(backend) == [number for _, _, number in sorted(expected)]


def payloads(backend: Backend) -> list[object]:
    """What one poll hands out, in order."""
    return [job.payload for job in claims(backend, 100)]
