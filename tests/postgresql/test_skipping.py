"""A poll that skips tasks takes another way to its jobs, and obeys all that the usual one obeys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.testing.conformance.given import WORKER, pushed
from tests.postgresql.held import Held, beside, poll_in

if TYPE_CHECKING:
    import psycopg

    from ferryman.backends.postgresql import PostgresqlBackend

    Admin = psycopg.Connection[tuple[object, ...]]

SKIPPED = ["slow"]


def polled(backend: PostgresqlBackend, limit: int = 100) -> list[str]:
    return [job.id for job in backend.poll(WORKER, {"mail": limit}, lease=60, skip_tasks=SKIPPED)]


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
