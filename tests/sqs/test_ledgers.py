"""What a ledger owes to the channel before it, on each database that can be one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.job import State
from ferryman.queue.ledger import Ledger, Notice
from ferryman.queue.open import open_backend
from ferryman.testing.conformance.given import (
    WORKER,
    claims,
    give_back,
    in_state,
    pushed,
    settle,
    several,
    the_job,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ferryman.job import Job
    from ferryman.testing.clock import FakeClock


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, ledger: str, clock: FakeClock) -> Iterator[Ledger]:
    url = ledger if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    store = open_backend(url, clock)
    assert isinstance(store, Ledger)
    yield store
    store.close()


def claimed(store: Ledger, *ids: str, queue: str = "mail", skip: Collection[str] = ()) -> list[Job]:
    return list(store.claim(WORKER, {queue: ids}, lease=60, turn=7, skip_tasks=skip))


def test_only_the_named_jobs_are_claimed(store: Ledger, clock: FakeClock) -> None:
    first, second, third = several(store, 3)
    [job] = claimed(store, second, "nobody's")
    assert (job.id, job.state, job.fence, job.attempts) == (second, State.PROCESSING, 1, 1)
    assert (job.worker, job.started_at, job.expires_at) == (WORKER, clock.now(), clock.now() + 60)
    assert job == the_job(store, second)
    assert [job.id for job in claims(store)] == [first, third]


def test_a_job_is_claimed_once(store: Ledger) -> None:
    job_id = pushed(store)
    assert len(claimed(store, job_id, job_id)) == 1
    assert claimed(store, job_id) == []


def test_jobs_of_several_queues_are_claimed_at_once(store: Ledger) -> None:
    mail, post = pushed(store), pushed(store, queue="post")
    jobs = store.claim(WORKER, {"mail": [mail], "post": [post]}, lease=60)
    assert {job.id for job in jobs} == {mail, post}


def test_a_job_is_claimed_from_its_own_queue_only(store: Ledger) -> None:
    assert claimed(store, pushed(store), queue="post") == []


def test_a_job_is_not_claimed_before_it_is_due(store: Ledger, clock: FakeClock) -> None:
    job_id = pushed(store, delay=10)
    assert claimed(store, job_id) == []
    clock.advance(10)
    assert len(claimed(store, job_id)) == 1
    assert store.snapshot().queues["mail"].scheduled == 0


def test_a_job_past_its_deadline_is_left_alone(store: Ledger, clock: FakeClock) -> None:
    job_id = pushed(store, expires=10)
    clock.advance(10)
    assert claimed(store, job_id) == []


def test_a_paused_queue_and_a_task_to_skip_are_left_alone(store: Ledger) -> None:
    job_id = pushed(store)
    assert claimed(store, job_id, skip=["send"]) == []
    store.pause_queue("mail")
    assert claimed(store, job_id) == []
    store.resume_queue("mail")
    assert len(claimed(store, job_id, skip=["archive"])) == 1


@pytest.mark.parametrize("state", [state for state in State if state is not State.PENDING])
def test_only_pending_jobs_are_claimed_and_named(store: Ledger, state: State) -> None:
    job_id = in_state(store, state)
    assert claimed(store, job_id) == []
    assert list(store.pending([job_id])) == []


def test_a_lost_answer_is_given_back_like_that_of_a_poll(store: Ledger) -> None:
    job_id = pushed(store)
    claimed(store, job_id)
    store.heartbeat(WORKER, [], lease=60, answered=6)
    assert list(store.pending([job_id])) == []
    store.heartbeat(WORKER, [], lease=60, answered=7)
    assert [notice.id for notice in store.pending([job_id])] == [job_id]


def test_pending_jobs_are_named_with_what_a_channel_must_know(
    store: Ledger, clock: FakeClock
) -> None:
    now = pushed(store)
    later = pushed(store, queue="post", priority=3, delay=5)
    assert set(store.pending([now, later, "nobody's"])) == {
        Notice(now, "mail", 0, clock.now()),
        Notice(later, "post", 3, clock.now() + 5),
    }
    [job] = claimed(store, now)
    settle(store, give_back(job, delay=2))
    assert list(store.pending([now])) == [Notice(now, "mail", 0, clock.now() + 2)]


def test_no_ids_are_no_jobs(store: Ledger) -> None:
    pushed(store)
    assert list(store.claim(WORKER, {}, lease=60)) == []
    assert claimed(store) == []
    assert list(store.pending([])) == []
