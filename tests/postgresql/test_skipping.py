"""A poll that skips tasks takes another way to its jobs, and obeys all that the usual one obeys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.job import State
from ferryman.testing.conformance.given import WORKER, pushed, state_of
from ferryman.testing.waiting import wait_until
from tests.postgresql.held import Held, beside, poll_in

if TYPE_CHECKING:
    import psycopg

    from ferryman.backends.postgresql import PostgresqlBackend

    Admin = psycopg.Connection[tuple[object, ...]]

SKIPPED = ["slow"]


def polled(backend: PostgresqlBackend, limit: int = 100) -> list[str]:
    return [job.id for job in backend.poll(WORKER, {"mail": limit}, lease=60, skip_tasks=SKIPPED)]


def test_a_paused_queue_is_left_alone(backend: PostgresqlBackend) -> None:
    job_id = pushed(backend)
    backend.pause_queue("mail")
    assert polled(backend) == []
    backend.resume_queue("mail")
    assert polled(backend) == [job_id]


def test_a_job_past_its_deadline_is_left_alone(backend: PostgresqlBackend) -> None:
    late = pushed(backend, expires=0.001)
    deadline = backend.get(late).deadline  # type: ignore[union-attr]
    wait_until(lambda: backend.snapshot().at > (deadline or 0), what="the deadline to pass")
    other = pushed(backend)
    assert polled(backend) == [other]
    assert state_of(backend, late) is State.PENDING


@pytest.mark.parametrize("limit", [1, 3])
def test_of_several_tasks_no_more_are_claimed_than_asked_for_and_the_first_of_all(
    backend: PostgresqlBackend, limit: int
) -> None:
    ids = [pushed(backend, task=task) for task in ("c", "slow", "a", "b", "c", "a", "b")]
    expected = [ids[place] for place in (0, 2, 3, 4, 5, 6)]
    assert polled(backend, limit) == expected[:limit]
    assert polled(backend) == expected[limit:]


def test_two_polls_at_once_claim_different_jobs_and_neither_waits(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    first, second = pushed(backend), pushed(backend)
    held = Held(backend, lambda tx: poll_in(tx, SKIPPED))
    with beside(postgres_admin, lambda: polled(backend, 1)) as claimed:
        waited = not claimed.done()
        assert held.commit() == [first]
        assert claimed.result() == [second]
    assert not waited
