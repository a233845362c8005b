"""restore: whole jobs of another store arrive, each once, as they were."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ferryman.filter import Filter
from ferryman.job import Job, LogLine, State
from ferryman.queue.open import open_backend
from ferryman.testing.conformance.given import (
    DAY,
    QUEUE,
    ack,
    beat,
    claim,
    claimed,
    claims,
    fail,
    in_state,
    nack,
    pushed,
    settle,
    state_of,
    the_job,
    tried_and_given_back,
)
from ferryman.testing.conformance.store import Store, needs

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend
    from ferryman.testing.clock import FakeClock

LEFT_ALONE = [state for state in State if state is not State.PROCESSING]
UNFINISHED = [State.PENDING, State.PROCESSING, State.PAUSED]


class Restore(Store):
    @pytest.mark.parametrize("state", LEFT_ALONE)
    def test_a_job_arrives_in_the_state_it_had(
        self, backend: Backend, other: Backend, clock: FakeClock, state: State
    ) -> None:
        job = the_job(other, in_state(other, state, {"to": "ana"}))
        clock.advance(100)
        [answer] = backend.restore([job])
        assert (answer.id, answer.status) == (job.id, "created")
        assert_same(the_job(backend, job.id), job)
        assert backend.snapshot().queues[QUEUE].states == {state: 1}

    @pytest.mark.parametrize("end", [State.COMPLETED, State.FAILED])
    def test_everything_that_happened_to_a_job_arrives(
        self, backend: Backend, other: Backend, clock: FakeClock, end: State
    ) -> None:
        job = the_job(other, with_a_past(other, clock, end))
        clock.advance(100)
        backend.restore([job])
        assert_same(the_job(backend, job.id), job)

    def test_a_job_that_waits_keeps_its_attempts_progress_and_checkpoint(
        self, backend: Backend, other: Backend
    ) -> None:
        job = the_job(other, tried_and_given_back(other))
        backend.restore([job])
        again = claim(backend)
        assert (again.attempts, again.fence, again.given_back) == (2, 3, 1)
        assert (again.percent, again.note) == (50, "halfway")
        assert again.stored_checkpoint == '{"page":40}'

    def test_the_budget_goes_on_where_it_was(self, backend: Backend, other: Backend) -> None:
        settle(other, nack(claimed(other, max_attempts=2), delay=0))
        [job] = other.list(Filter()).jobs
        backend.restore([the_job(other, job.id)])
        assert settle(backend, nack(claim(backend), "again", delay=0)).state is State.FAILED
        assert [error.text for error in the_job(backend, job.id).errors] == ["boom", "again"]

    # -- jobs that ran

    @pytest.mark.parametrize(
        ("asked", "state"),
        [(None, State.PENDING), ("pause", State.PAUSED), ("cancel", State.CANCELLED)],
    )
    def test_a_job_that_ran_is_given_back_and_does_what_was_asked(
        self, backend: Backend, other: Backend, clock: FakeClock, asked: str | None, state: State
    ) -> None:
        job = claimed(other)
        beat(other, job, percent=30, checkpoint='{"page":3}')
        if asked is not None:
            getattr(other, asked)([job.id])
        clock.advance(10)
        backend.restore([the_job(other, job.id)])
        found = the_job(backend, job.id)
        assert found.state is state
        assert (found.attempts, found.given_back, found.fence) == (0, 1, 1)
        assert (found.heartbeat_at, found.expires_at) == (None, None)
        assert (found.percent, found.stored_checkpoint) == (30, '{"page":3}')
        assert found.finished_at == (clock.now() if state.terminal else None)
        assert found.worker == (job.worker if state.terminal else None)

    def test_the_worker_that_held_it_elsewhere_holds_nothing_here(
        self, backend: Backend, other: Backend
    ) -> None:
        job = claimed(other)
        backend.restore([the_job(other, job.id)])
        assert not settle(backend, ack(job)).applied
        assert not beat(backend, job).held
        assert claim(backend, worker="worker-2").fence == job.fence + 1
        assert not settle(backend, ack(job)).applied

    def test_a_restored_job_that_ran_is_not_reaped(
        self, backend: Backend, other: Backend, clock: FakeClock
    ) -> None:
        backend.restore([the_job(other, claimed(other).id)])
        clock.advance(DAY)
        assert list(backend.reap()) == []

    # -- what the operators may do next

    def test_a_restored_failure_can_be_retried(self, backend: Backend, other: Backend) -> None:
        job_id = in_state(other, State.FAILED)
        backend.restore([the_job(other, job_id)])
        backend.retry([job_id])
        again = claim(backend)
        assert (again.id, again.generation, again.fence, again.attempts) == (job_id, 2, 2, 1)

    def test_a_restored_pause_is_kept_until_it_is_resumed(
        self, backend: Backend, other: Backend
    ) -> None:
        job_id = in_state(other, State.PAUSED)
        backend.restore([the_job(other, job_id)])
        assert claims(backend) == []
        backend.resume([job_id])
        assert claim(backend).id == job_id

    def test_a_scheduled_job_arrives_scheduled(
        self, backend: Backend, other: Backend, clock: FakeClock
    ) -> None:
        job_id = pushed(other, delay=60)
        backend.restore([the_job(other, job_id)])
        assert backend.snapshot().queues[QUEUE].scheduled == 1
        assert claims(backend) == []
        clock.advance(60)
        assert claim(backend).id == job_id

    @pytest.mark.parametrize("state", [State.PENDING, State.PAUSED])
    def test_a_deadline_arrives_too(
        self, backend: Backend, other: Backend, clock: FakeClock, state: State
    ) -> None:
        job_id = in_state(other, state, expires=60)
        backend.restore([the_job(other, job_id)])
        clock.advance(61)
        assert [reaped.id for reaped in backend.reap()] == [job_id]
        assert state_of(backend, job_id) is State.CANCELLED

    def test_restored_history_is_pruned_by_when_it_ended(
        self, backend: Backend, other: Backend, clock: FakeClock
    ) -> None:
        old = in_state(other, State.COMPLETED)
        clock.advance(3 * DAY)
        new = in_state(backend, State.COMPLETED)
        clock.advance(3 * DAY)
        backend.restore([the_job(other, old)])
        assert backend.prune(older_than=DAY, limit=1) == 1
        assert (backend.get(old), state_of(backend, new)) == (None, State.COMPLETED)
        assert backend.prune(older_than=DAY) == 1

    def test_a_restored_job_is_found_by_its_meta_and_its_error(
        self, backend: Backend, other: Backend
    ) -> None:
        settle(other, fail(claimed(other, meta={"user_id": "42"}), "no answer"))
        [job] = other.list(Filter()).jobs
        backend.restore([the_job(other, job.id)])
        for words in ("meta.user_id:42", 'error:"no answer"', "state:failed", "queue:mail"):
            found = backend.list(Filter.parse(words)).jobs
            assert [each.id for each in found] == [job.id], words

    def test_a_restored_job_can_be_deleted_wholly(self, backend: Backend, other: Backend) -> None:
        job = the_job(other, in_state(other, State.FAILED, meta={"user_id": "42"}))
        backend.restore([job])
        backend.delete([job.id])
        assert backend.get(job.id) is None
        assert backend.restore([job])[0].status == "created"
        assert_same(the_job(backend, job.id), job)

    # -- order

    def test_push_order_is_the_order_given_after_what_is_there(
        self, backend: Backend, other: Backend
    ) -> None:
        pushed(backend, id="first")
        jobs = [the_job(other, pushed(other, id=name)) for name in "cab"]
        backend.restore(jobs)
        pushed(backend, id="last")
        newest_first = [job.id for job in backend.list(Filter()).jobs]
        assert newest_first == ["last", "b", "a", "c", "first"]

    def test_restored_jobs_are_claimed_in_their_order(
        self, backend: Backend, other: Backend
    ) -> None:
        needs(backend, "order")
        ids = [pushed(other) for _ in range(5)]
        urgent = pushed(other, priority=10)
        backend.restore([the_job(other, job_id) for job_id in [*ids, urgent]])
        assert [job.id for job in claims(backend)] == [urgent, *ids]

    def test_waiting_workers_may_find_a_restored_job(
        self, backend: Backend, other: Backend
    ) -> None:
        backend.restore([the_job(other, pushed(other))])
        assert backend.wait([QUEUE], 0)

    def test_an_empty_batch_is_nothing(self, backend: Backend) -> None:
        assert list(backend.restore([])) == []

    def test_restored_jobs_are_there_for_whoever_opens_the_store(
        self, backend: Backend, other: Backend, clock: FakeClock, url: str
    ) -> None:
        needs(backend, "shared")
        job = the_job(other, with_a_past(other, clock, State.FAILED))
        backend.restore([job])
        with closing(open_backend(url, clock)) as reopened:
            assert_same(the_job(reopened, job.id), job)


def with_a_past(backend: Backend, clock: FakeClock, end: State) -> str:
    """The id of a job of the second generation that has one of everything."""
    options: dict[str, Any] = {"priority": 5, "key": "ana", "version": 2, "timeout": 30.0}
    options |= {"correlation_id": "request-1", "meta": {"user_id": "42", "ü": "24/7"}}
    options |= {"max_attempts": 3, "backoff": "1.0,2.0,9.0,0.0"}
    job = claimed(backend, {"to": "ana", "n": [1, 2.5, None, "é"]}, **options)
    settle(backend, fail(job, "no such street"))
    backend.retry([job.id])
    clock.advance(5)
    settle(backend, nack(claim(backend), "no answer", delay=0))
    again = claim(backend)
    lines = tuple(LogLine(clock.now(), text) for text in ("one", "two"))
    beat(backend, again, percent=60, note="page 6", checkpoint='{"page":6}', logs=lines)
    clock.advance(5)
    settle(backend, ack(again, '{"ok":true}') if end is State.COMPLETED else fail(again))
    return job.id


def assert_same(found: Job, job: Job) -> None:
    """Everything but the place in push order."""
    assert replace(found, seq=0) == replace(job, seq=0)
