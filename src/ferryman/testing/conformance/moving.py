"""Whole stores on the move: what leaves one backend arrives in another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.filter import Filter
from ferryman.job import State
from ferryman.service.move import copy, move
from ferryman.testing.conformance.cargo import ALL, assert_moved, populate, whole
from ferryman.testing.conformance.given import claim, claimed, pushed, state_of
from ferryman.testing.conformance.store import Store

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend


class Moving(Store):
    def test_every_job_moves_out_as_it_was(self, backend: Backend, other: Backend) -> None:
        populate(backend, rounds=10)
        before = whole(backend)
        assert list(move(backend, other, ALL).left) == []
        assert_moved(before, backend, other)

    def test_every_job_moves_in_as_it_was(self, backend: Backend, other: Backend) -> None:
        populate(other, rounds=10)
        before = whole(other)
        assert list(move(other, backend, ALL).left) == []
        assert_moved(before, other, backend)

    def test_a_copy_there_and_back_is_the_same(self, backend: Backend, other: Backend) -> None:
        populate(other, rounds=2)
        before = whole(other)
        copy(other, backend, ALL)
        other.delete(list(before))
        copy(backend, other, ALL)
        assert whole(other) == whole(backend) == before

    def test_a_move_is_run_again_without_harm(self, backend: Backend, other: Backend) -> None:
        job_id = pushed(backend)
        for _ in range(2):
            move(backend, other, ALL)
        assert (backend.get(job_id), state_of(other, job_id)) == (None, State.PENDING)

    def test_a_job_that_runs_stays_with_its_worker(self, backend: Backend, other: Backend) -> None:
        job = claimed(backend)
        waiting = pushed(backend)
        assert [left.id for left in move(backend, other, ALL).left] == [job.id]
        assert (state_of(backend, job.id), claim(other).id) == (State.PROCESSING, waiting)

    def test_only_what_matches_moves_out(self, backend: Backend, other: Backend) -> None:
        mail, post = pushed(backend), pushed(backend, queue="post")
        move(backend, other, Filter.parse("queue:post"))
        assert (list(whole(backend)), list(whole(other))) == ([mail], [post])
