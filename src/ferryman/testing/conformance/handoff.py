"""settle: children follow from the completed parent, in one commit, and only once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.ids import child_id
from ferryman.job import Job, State
from ferryman.lifecycle import Verdict
from ferryman.testing.conformance.given import (
    a_message,
    ack,
    claim,
    claimed,
    claims,
    nack,
    pushed,
    settle,
    settlement,
    state_of,
    the_job,
)
from ferryman.testing.conformance.store import Store

if TYPE_CHECKING:
    from ferryman.message import Message
    from ferryman.queue.contract import Backend
    from ferryman.testing.clock import FakeClock


class HandOff(Store):
    def test_children_are_pushed_with_the_ack(self, backend: Backend, clock: FakeClock) -> None:
        parent = claimed(backend)
        child = a_message({"page": 1}, queue="pages", id="child", delay=30, priority=4)
        assert settle(backend, ack(parent, children=[child])).applied
        job = the_job(backend, "child")
        assert (job.state, job.queue, job.payload) == (State.PENDING, "pages", {"page": 1})
        assert (job.ready_at, job.priority) == (clock.now() + 30, 4)
        assert (job.generation, job.fence, job.created_at) == (1, 0, clock.now())

    def test_children_are_claimable_like_any_other_job(self, backend: Backend) -> None:
        parent = claimed(backend)
        settle(backend, ack(parent, children=children_of(parent, 3)))
        assert sorted(job.payload for job in claims(backend, queue="pages")) == [0, 1, 2]

    def test_children_may_go_to_several_queues_and_their_own(self, backend: Backend) -> None:
        parent = claimed(backend)
        batch = [a_message(queue=queue) for queue in ("mail", "post", "fax")]
        settle(backend, ack(parent, children=batch))
        for message in batch:
            assert claim(backend, queue=message.queue).id == message.id

    def test_many_children_fit_in_one_ack(self, backend: Backend) -> None:
        parent = claimed(backend)
        settle(backend, ack(parent, children=children_of(parent, self.many)))
        assert backend.snapshot().count(State.PENDING, "pages") == self.many

    def test_the_same_ack_sent_again_pushes_no_second_child(self, backend: Backend) -> None:
        parent = claimed(backend)
        ending = ack(parent, children=children_of(parent, 2))
        assert [settle(backend, ending).applied for _ in range(3)] == [True, True, True]
        assert len(claims(backend, queue="pages")) == 2

    def test_a_child_that_is_already_there_is_left_as_it_is(self, backend: Backend) -> None:
        parent = claimed(backend)
        first, second = children_of(parent, 2)
        backend.push([first])
        running = claim(backend, queue="pages")
        assert settle(backend, ack(parent, children=[first, second])).applied
        assert (running.id, state_of(backend, first.id)) == (first.id, State.PROCESSING)
        assert claim(backend, queue="pages").id == second.id

    def test_a_child_that_already_finished_does_not_run_again(self, backend: Backend) -> None:
        parent = claimed(backend)
        [child] = children_of(parent, 1)
        backend.push([child])
        settle(backend, ack(claim(backend, queue="pages")))
        assert settle(backend, ack(parent, children=[child])).applied
        assert claims(backend, queue="pages") == []

    def test_a_child_whose_key_is_taken_is_not_pushed_and_the_parent_completes(
        self, backend: Backend
    ) -> None:
        pushed(backend, queue="pages", key="page-1")
        parent = claimed(backend)
        child = a_message(queue="pages", id="child", key="page-1")
        assert settle(backend, ack(parent, children=[child])).state is State.COMPLETED
        assert backend.get("child") is None

    @pytest.mark.parametrize("verdict", [v for v in Verdict if v is not Verdict.ACK])
    def test_only_an_ack_hands_over(self, backend: Backend, verdict: Verdict) -> None:
        parent = claimed(backend)
        children = children_of(parent, 2)
        assert settle(backend, settlement(parent, verdict, children=children)).applied
        assert nothing_handed_over(backend)

    def test_a_refused_ack_hands_over_nothing(self, backend: Backend) -> None:
        parent = claimed(backend)
        settle(backend, nack(parent, delay=0))
        claim(backend, worker="other")
        assert not settle(backend, ack(parent, children=children_of(parent, 2))).applied
        assert nothing_handed_over(backend)

    def test_an_ack_after_cancel_was_asked_keeps_the_result_and_hands_over_nothing(
        self, backend: Backend
    ) -> None:
        parent = claimed(backend)
        backend.cancel([parent.id])
        ending = ack(parent, '"late"', children=children_of(parent, 2))
        assert settle(backend, ending).state is State.CANCELLED
        assert the_job(backend, parent.id).result == '"late"'
        assert nothing_handed_over(backend)

    def test_ends_in_a_batch_hand_nothing_over_if_a_cancel_was_asked(
        self, backend: Backend
    ) -> None:
        parents = [claimed(backend), claimed(backend)]
        backend.cancel([parent.id for parent in parents])
        ends = [ack(parent, children=children_of(parent, 2)) for parent in parents]
        assert {receipt.state for receipt in backend.settle(ends)} == {State.CANCELLED}
        assert nothing_handed_over(backend)

    def test_an_ack_after_pause_was_asked_completes_and_hands_over(self, backend: Backend) -> None:
        parent = claimed(backend)
        backend.pause([parent.id])
        receipt = settle(backend, ack(parent, children=children_of(parent, 2)))
        assert receipt.state is State.COMPLETED
        assert len(claims(backend, queue="pages")) == 2

    def test_children_are_accepted_by_a_paused_queue(self, backend: Backend) -> None:
        backend.pause_queue("pages")
        parent = claimed(backend)
        settle(backend, ack(parent, children=children_of(parent, 1)))
        assert claims(backend, queue="pages") == []
        backend.resume_queue("pages")
        assert len(claims(backend, queue="pages")) == 1

    def test_children_of_a_batch_all_arrive(self, backend: Backend) -> None:
        first, second = claimed(backend), claimed(backend)
        backend.settle([ack(job, children=children_of(job, 3)) for job in (first, second)])
        assert len(claims(backend, queue="pages")) == 6

    def test_a_retried_parent_has_new_children(self, backend: Backend) -> None:
        parent = claimed(backend)
        settle(backend, ack(parent, children=children_of(parent, 2)))
        backend.retry([parent.id])
        again = claim(backend)
        settle(backend, ack(again, children=children_of(again, 2)))
        assert len({job.id for job in claims(backend, queue="pages")}) == 4

    def test_a_child_id_is_always_the_same_for_the_same_parent_edge_and_index(self) -> None:
        first = child_id("parent", 1, "pages", 0)
        others = [
            child_id("parent", 1, "pages", 1),
            child_id("parent", 2, "pages", 0),
            child_id("parent", 1, "images", 0),
            child_id("other", 1, "pages", 0),
            child_id("parent", 1, "pages", "key"),
        ]
        assert child_id("parent", 1, "pages", 0) == first
        assert len({first, *others}) == 6


def children_of(parent: Job, count: int) -> tuple[Message, ...]:
    """Children as a worker makes them: their ids follow from the parent."""
    return tuple(
        a_message(index, queue="pages", id=child_id(parent.id, parent.generation, "pages", index))
        for index in range(count)
    )


def nothing_handed_over(backend: Backend) -> bool:
    counts = backend.snapshot().queues.get("pages")
    return counts is None or counts.total == 0
