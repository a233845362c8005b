"""Capacity: how many jobs may wait, and who is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ferryman.job import State
from ferryman.queue.capacity import Limit
from ferryman.testing.conformance.given import (
    a_message,
    ack,
    claim,
    claims,
    in_state,
    nack,
    pushed,
    settle,
    several,
    the_job,
)
from ferryman.testing.conformance.processes import Rivals, race
from ferryman.testing.conformance.store import needs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.message import Message
    from ferryman.queue.contract import Backend
    from ferryman.testing.clock import FakeClock
    from ferryman.testing.conformance.rivals import Rival

FIVE = {"mail": Limit(5)}


def statuses(backend: Backend, *messages: Message, limits: Any = FIVE) -> Sequence[str]:
    return [answer.status for answer in backend.push(messages, limits=limits)]


class Capacity(Rivals):
    def test_a_queue_takes_as_many_jobs_as_its_capacity(self, backend: Backend) -> None:
        for _ in range(5):
            assert statuses(backend, a_message()) == ["created"]
        assert statuses(backend, a_message()) == ["full"]
        assert backend.snapshot().count(State.PENDING) == 5

    def test_nothing_of_a_batch_that_does_not_fit_is_written(self, backend: Backend) -> None:
        several(backend, 3)
        batch = [a_message(id=f"b{n}") for n in range(3)]
        assert statuses(backend, *batch) == ["full"] * 3
        assert backend.get("b0") is None
        assert statuses(backend, *batch[:2]) == ["created"] * 2

    def test_other_queues_of_the_batch_are_not_concerned(self, backend: Backend) -> None:
        several(backend, 5)
        messages = [a_message(), a_message(queue="post"), a_message()]
        assert statuses(backend, *messages) == ["full", "created", "full"]

    def test_what_is_there_already_is_not_refused(self, backend: Backend) -> None:
        several(backend, 3)
        known = a_message(1, id="known")
        keyed = a_message(2, key="k")
        backend.push([known, keyed])
        again = a_message(3, key="k")
        other = a_message(9, id="known")
        new = a_message(id="new")
        assert statuses(backend, known, again, new, other) == [
            "existing",
            "existing",
            "full",
            "conflict",
        ]

    def test_a_waiting_job_is_replaced_in_a_full_queue(self, backend: Backend) -> None:
        several(backend, 4)
        pushed(backend, 1, id="known")
        assert statuses(backend, a_message(2, id="known", replace=True)) == ["replaced"]
        assert the_job(backend, "known").payload == 2

    def test_one_id_twice_in_a_batch_needs_one_place(self, backend: Backend) -> None:
        several(backend, 4)
        message = a_message(id="twice")
        assert statuses(backend, message, message) == ["created", "existing"]

    def test_scheduled_jobs_count_and_others_do_not(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        for state in sorted(State, key=lambda state: state is State.PENDING):
            in_state(backend, state)
        pushed(backend, delay=30)
        assert backend.depth("mail", 100) == 2
        assert statuses(backend, a_message(), a_message(), a_message()) == ["created"] * 3
        assert statuses(backend, a_message()) == ["full"]
        clock.advance(31)
        assert statuses(backend, a_message()) == ["full"]

    def test_a_claim_makes_room_and_its_return_is_never_refused(self, backend: Backend) -> None:
        several(backend, 5)
        job = claim(backend)
        assert statuses(backend, a_message()) == ["created"]
        assert settle(backend, nack(job, delay=0)).applied
        assert backend.depth("mail", 100) == 6
        assert statuses(backend, a_message()) == ["full"]

    def test_a_hand_over_is_never_refused(self, backend: Backend) -> None:
        several(backend, 5)
        child = a_message(id="child")
        assert settle(backend, ack(claim(backend), children=[child])).applied
        assert the_job(backend, "child").state is State.PENDING

    def test_without_limits_nothing_is_refused(self, backend: Backend) -> None:
        several(backend, 5)
        assert statuses(backend, a_message(), limits={}) == ["created"]
        assert statuses(backend, a_message(), limits={"mail": Limit()}) == ["created"]
        assert statuses(backend, a_message(), limits={"post": Limit(1)}) == ["created"]

    def test_the_depth_is_counted_no_further_than_asked(self, backend: Backend) -> None:
        assert backend.depth("mail", 10) == 0
        several(backend, 5)
        assert (backend.depth("mail", 10), backend.depth("mail", 3)) == (5, 3)
        claims(backend)
        assert backend.depth("mail", 10) == 0

    @pytest.fixture
    def exact(self, real: Backend) -> Backend:
        needs(real, "shared")
        needs(real, "exact_capacity")
        return real

    def test_two_processes_never_push_more_than_the_capacity(
        self, exact: Backend, url: str, rivals: tuple[Rival, Rival]
    ) -> None:
        capacity = self.pairs
        messages = [{"queue": "mail", "task": "send"} for _ in range(capacity)]
        command = {"do": "push", "messages": messages, "capacity": capacity}
        found = race(url, rivals, [command] * 2)
        created = [status for one in found for _, status in one].count("created")
        assert created == capacity == exact.depth("mail", 10 * capacity)

    def test_two_processes_exceed_a_capacity_by_no_more_than_what_is_under_way(
        self, real: Backend, url: str, rivals: tuple[Rival, Rival]
    ) -> None:
        needs(real, "shared")
        messages = [{"queue": "mail", "task": "send"} for _ in range(30)]
        race(url, rivals, [{"do": "push", "messages": messages, "capacity": 10}] * 2)
        assert 10 <= real.depth("mail", 100) <= 11
