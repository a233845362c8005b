"""Races for jobs: whatever the interleaving, each is made once and handed out once."""

from __future__ import annotations

import time
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from ferryman.job import State
from ferryman.testing.conformance.crowd import (
    churn,
    drain,
    push_each,
    running,
    settle_each,
    taking_turns,
    together,
)
from ferryman.testing.conformance.given import (
    a_message,
    fail,
    several,
    the_job,
)
from ferryman.testing.conformance.snapshot import counted, recount
from ferryman.testing.conformance.store import Store, needs
from ferryman.testing.waiting import wait_until

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend


class Races(Store):
    def test_concurrent_polls_never_hand_one_job_to_two_claimers(self, real: Backend) -> None:
        ids = several(real, self.jobs)
        found = together(*(partial(drain, real, f"w{number}") for number in range(4)))
        claimed = [job for jobs in found for job in jobs]
        assert sorted(job.id for job in claimed) == sorted(ids)
        assert {job.fence for job in claimed} == {1}

    def test_every_claim_of_a_job_has_its_own_fence(self, real: Backend) -> None:
        several(real, 20, max_attempts=1_000)
        found = together(*(partial(churn, real, f"w{n}", self.rounds) for n in range(4)))
        fences = Counter(claim for claims_of_one in found for claim in claims_of_one)
        assert max(fences.values()) == 1

    def test_pushes_from_many_threads_all_arrive(self, real: Backend) -> None:
        crowd = [[a_message(number) for number in range(self.pairs)] for _ in range(6)]
        found = together(*(partial(push_each, real, messages) for messages in crowd))
        assert all(answer.created for answers in found for answer in answers)
        assert real.snapshot().count(State.PENDING) == 6 * self.pairs

    def test_concurrent_pushes_of_one_id_create_one_job(self, real: Backend) -> None:
        messages = [a_message(number) for number in range(self.pairs)]
        found = together(*(partial(push_each, real, messages) for _ in range(4)))
        for answers in zip(*found, strict=True):
            assert Counter(answer.status for answer in answers) == {"created": 1, "existing": 3}
        assert real.snapshot().count(State.PENDING) == self.pairs

    def test_concurrent_pushes_of_two_bodies_for_one_id_create_one_and_refuse_one(
        self, real: Backend
    ) -> None:
        rivals = [
            [a_message(body, id=f"j{n}") for n in range(self.pairs)] for body in ("one", "other")
        ]
        found = together(*(partial(push_each, real, messages) for messages in rivals))
        for one, other in zip(*found, strict=True):
            assert {one.status, other.status} == {"created", "conflict"}
            winner = "one" if one.status == "created" else "other"
            assert the_job(real, one.id).payload == winner

    def test_concurrent_pushes_of_one_key_create_one_job(self, real: Backend) -> None:
        rivals = [[a_message(key=f"k{n}") for n in range(self.pairs)] for _ in range(4)]
        found = together(*(partial(push_each, real, messages) for messages in rivals))
        for answers in zip(*found, strict=True):
            assert Counter(answer.status for answer in answers) == {"created": 1, "existing": 3}
            assert len({answer.id for answer in answers}) == 1
        assert real.snapshot().count(State.PENDING) == self.pairs

    def test_cancel_racing_poll_cancels_or_asks(self, real: Backend) -> None:
        ids = several(real, self.pairs)

        def cancel_each() -> list[State | None]:
            return [real.cancel([job_id])[0].state for job_id in taking_turns(reversed(ids))]

        cancelled, polled = together(cancel_each, partial(drain, real, "w1"))
        started = {job.id for job in polled}
        for job_id, answer in zip(reversed(ids), cancelled, strict=True):
            job = the_job(real, job_id)
            assert answer is (State.PROCESSING if job_id in started else State.CANCELLED)
            assert job.state is answer
            assert job_id not in started or job.asked == "cancel"

    def test_delete_racing_poll_deletes_or_hands_out(self, real: Backend) -> None:
        ids = several(real, self.pairs)

        def delete_each() -> list[bool]:
            return [real.delete([job_id])[0].refused is None for job_id in taking_turns(ids[::-1])]

        deleted, polled = together(delete_each, partial(drain, real, "w1"))
        started = {job.id for job in polled}
        for job_id, was_deleted in zip(ids[::-1], deleted, strict=True):
            assert was_deleted is (job_id not in started)
            assert (real.get(job_id) is None) is was_deleted

    def test_purge_racing_poll_deletes_or_hands_out(self, real: Backend) -> None:
        several(real, self.jobs)
        polled, purged = together(lambda: len(drain(real, "w1")), lambda: real.purge("mail"))
        assert polled + purged == self.jobs
        assert real.snapshot().count(State.PROCESSING) == polled

    def test_no_claim_follows_the_pause_of_a_queue(self, real: Backend) -> None:
        several(real, self.jobs)

        def pause() -> int:
            wait_until(lambda: real.snapshot().count(State.PROCESSING) > 5, what="some claims")
            real.pause_queue("mail")
            return real.snapshot().count(State.PROCESSING)

        at_the_pause, *_ = together(pause, lambda: len(drain(real, "w1", 1)))
        assert real.snapshot().count(State.PROCESSING) == at_the_pause

    def test_concurrent_retries_of_one_job_start_one_generation(self, real: Backend) -> None:
        jobs = running(real, self.pairs)
        settle_each(real, map(fail, jobs))

        def retry_each() -> list[bool]:
            return [real.retry([job.id])[0].refused is None for job in taking_turns(jobs)]

        for first, second in zip(*together(retry_each, retry_each), strict=True):
            assert first is not second
        assert {the_job(real, job.id).generation for job in jobs} == {2}

    def test_a_counter_in_a_cell_loses_no_increment(self, real: Backend) -> None:
        needs(real, "cells")
        together(*(partial(count_up, real, self.rounds) for _ in range(4)))
        [cell] = real.read_cells("counter")
        assert (cell.value, cell.version) == (str(4 * self.rounds), 4 * self.rounds)

    def test_counts_equal_a_recount_after_a_crowd(self, real: Backend) -> None:
        several(real, 50, max_attempts=1_000)
        together(*(partial(churn, real, f"w{n}", self.rounds) for n in range(4)))
        assert counted(real) == recount(real)


def count_up(store: Backend, times: int) -> None:
    for _ in range(times):
        while not counted_one(store):
            pass


def counted_one(store: Backend) -> bool:
    cells = store.read_cells("counter")
    value, version = (int(cells[0].value), cells[0].version) if cells else (0, 0)
    # Here another thread writes: compare-and-set is about this gap.
    time.sleep(0)
    return store.write_cell("counter", str(value + 1), expect=version) is not None
