"""restore: whom an arriving job meets, by id and by key, and what no store takes in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ferryman.errors import InvalidMessage
from ferryman.filter import Filter
from ferryman.job import JobError, LogLine, State
from ferryman.message import MAX_BYTES
from ferryman.testing.conformance.given import a_message, in_state, pushed, the_job
from ferryman.testing.conformance.store import Store

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend
    from ferryman.testing.clock import FakeClock

UNFINISHED = [State.PENDING, State.PROCESSING, State.PAUSED]


class Arrivals(Store):
    # -- ids

    @pytest.mark.parametrize("state", list(State))
    def test_the_same_job_again_is_existing_and_changes_nothing(
        self, backend: Backend, other: Backend, state: State
    ) -> None:
        job = the_job(other, pushed(other, "body", id="order-7", priority=9))
        in_state(backend, state, "body", id="order-7")
        before = the_job(backend, "order-7")
        [answer] = backend.restore([job])
        assert (answer.id, answer.status) == ("order-7", "existing")
        assert the_job(backend, "order-7") == before

    @pytest.mark.parametrize("state", list(State))
    def test_other_work_under_the_same_id_is_a_conflict(
        self, backend: Backend, other: Backend, state: State
    ) -> None:
        job = the_job(other, pushed(other, "other", id="order-7"))
        in_state(backend, state, "body", id="order-7")
        before = the_job(backend, "order-7")
        [answer] = backend.restore([job])
        assert (answer.id, answer.status) == ("order-7", "conflict")
        assert the_job(backend, "order-7") == before

    def test_restoring_twice_makes_one_job(self, backend: Backend, other: Backend) -> None:
        jobs = [the_job(other, pushed(other)) for _ in range(3)]
        assert [answer.status for answer in backend.restore(jobs)] == ["created"] * 3
        assert [answer.status for answer in backend.restore(jobs)] == ["existing"] * 3
        assert len(backend.list(Filter()).jobs) == 3

    def test_jobs_see_those_before_them_in_the_batch(
        self, backend: Backend, other: Backend
    ) -> None:
        job = the_job(other, pushed(other, "body"))
        batch = [job, job, replace(job, body='"other"')]
        statuses = [answer.status for answer in backend.restore(batch)]
        assert statuses == ["created", "existing", "conflict"]

    def test_a_restored_id_is_known_to_push(self, backend: Backend, other: Backend) -> None:
        job_id = in_state(other, State.COMPLETED, "body")
        backend.restore([the_job(other, job_id)])
        answers = backend.push([a_message("body", id=job_id), a_message("other", id=job_id)])
        assert [answer.status for answer in answers] == ["existing", "conflict"]

    # -- keys

    @pytest.mark.parametrize("state", UNFINISHED)
    @pytest.mark.parametrize("holder", UNFINISHED)
    def test_an_unfinished_job_is_a_conflict_while_another_holds_its_key(
        self, backend: Backend, other: Backend, state: State, holder: State
    ) -> None:
        job = the_job(other, in_state(other, state, key="ana"))
        in_state(backend, holder, key="ana")
        [answer] = backend.restore([job])
        assert (answer.id, answer.status, backend.get(job.id)) == (job.id, "conflict", None)

    def test_a_key_conflicts_within_a_batch_too(self, backend: Backend, other: Backend) -> None:
        first = the_job(other, pushed(other, key="ana"))
        second = replace(first, id="second")
        statuses = [answer.status for answer in backend.restore([first, second])]
        assert statuses == ["created", "conflict"]

    def test_finished_jobs_share_their_key_with_anyone(
        self, backend: Backend, other: Backend
    ) -> None:
        done = [the_job(other, in_state(other, State.COMPLETED, key="ana")) for _ in range(2)]
        pushed(backend, key="ana")
        assert [answer.status for answer in backend.restore(done)] == ["created"] * 2

    def test_a_key_is_free_in_another_queue_and_beside_finished_jobs(
        self, backend: Backend, other: Backend
    ) -> None:
        in_state(backend, State.COMPLETED, key="ana")
        pushed(backend, key="ana", queue="post")
        job = the_job(other, pushed(other, key="ana"))
        assert backend.restore([job])[0].status == "created"

    def test_a_restored_job_holds_its_key(self, backend: Backend, other: Backend) -> None:
        job_id = pushed(other, key="ana")
        backend.restore([the_job(other, job_id)])
        [answer] = backend.push([a_message("other", key="ana")])
        assert (answer.id, answer.status) == (job_id, "existing")

    def test_a_key_that_is_unique_for_a_while_counts_from_the_first_push(
        self, backend: Backend, other: Backend, clock: FakeClock
    ) -> None:
        young = the_job(other, in_state(other, State.COMPLETED, key="ana"))
        old = replace(young, id="old", created_at=young.created_at - 500)
        backend.restore([young, old])
        clock.advance(100)
        again = a_message("again", key="ana", unique=60.0)
        assert backend.push([replace(again, unique=200.0)])[0].id == young.id
        assert backend.push([again])[0].status == "created"

    # -- what no store could keep

    @pytest.mark.parametrize(
        "wrong",
        [
            {"id": ""},
            {"queue": "x" * 201},
            {"task": "a\nb"},
            {"body": "{"},
            {"body": '"' + "x" * MAX_BYTES + '"'},
            {"result": "NaN"},
            {"stored_checkpoint": "["},
            {"priority": 10**10},
            {"attempts": -1},
            {"attempts": 6, "max_attempts": 5},
            {"fence": 2**70},
            {"generation": 0},
            {"given_back": -1},
            {"created_at": float("nan")},
            {"ready_at": -1.0},
            {"deadline": float("inf")},
            {"percent": 101.0},
            {"backoff": "soon"},
            {"timeout": 0.0},
            {"meta": {"user": 42}},
            {"state": State.FAILED, "finished_at": None},
            {"state": State.PROCESSING, "attempts": 0},
            {"errors": (JobError(1, float("nan"), None, "ValueError", "boom"),)},
            {"logs": (LogLine(float("inf"), "line"),)},
        ],
        ids=",".join,
    )
    def test_a_job_that_could_not_have_been_pushed_stops_the_whole_batch(
        self, backend: Backend, other: Backend, wrong: dict[str, Any]
    ) -> None:
        good = the_job(other, pushed(other))
        bad = replace(the_job(other, pushed(other)), **wrong)
        with pytest.raises(InvalidMessage) as refusal:
            backend.restore([good, bad])
        assert repr(bad.id) in str(refusal.value)
        assert list(backend.list(Filter()).jobs) == []
