"""Who holds a job, a key or a cell keeps others from it, and who need not wait passes by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.backends.postgresql.cells import write_cell
from ferryman.backends.postgresql.heartbeat import heartbeat
from ferryman.backends.postgresql.history import pause_queue, prune
from ferryman.backends.postgresql.operators import operate
from ferryman.backends.postgresql.push import push
from ferryman.job import State
from ferryman.lifecycle import Act
from ferryman.queue.heartbeat import Beat
from ferryman.testing.conformance.given import (
    WORKER,
    a_message,
    claimed,
    claims,
    in_state,
    pushed,
    state_of,
    the_job,
)
from ferryman.testing.waiting import wait_until
from tests.postgresql.held import Held, beside, poll_in
from tests.servers.postgres_fixtures import SCHEMA

if TYPE_CHECKING:
    import psycopg

    from ferryman.backends.postgresql import PostgresqlBackend

    Admin = psycopg.Connection[tuple[object, ...]]

DAY = 86_400


def test_a_poll_passes_by_a_job_that_is_being_paused_as_it_becomes_due(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    first = pushed(backend, delay=0.001)
    due = the_job(backend, first).ready_at
    wait_until(lambda: backend.snapshot().at > due, what="the job to become due")
    other = pushed(backend)
    held = Held(backend, lambda tx: operate(tx, Act.PAUSE, [first]))
    with beside(postgres_admin, lambda: claims(backend)) as polled:
        waited = not polled.done()
        held.commit()
        assert [job.id for job in polled.result()] == [other]
    assert not waited
    assert state_of(backend, first) is State.PAUSED


@pytest.mark.parametrize("keep", [6, None])
def test_of_two_prunes_at_once_the_second_keeps_what_it_must(
    backend: PostgresqlBackend, postgres_admin: Admin, keep: int | None
) -> None:
    ids = [in_state(backend, State.COMPLETED) for _ in range(10)]
    postgres_admin.execute(f"UPDATE {SCHEMA}.history SET finished_at = finished_at - 2 * {DAY}")  # noqa: S608
    held = Held(
        backend,
        lambda tx: prune(tx, older_than=DAY, states=(), keep=keep, limit=4, spare=()),
    )
    with beside(postgres_admin, lambda: backend.prune(older_than=DAY, keep=6)) as pruned:
        assert held.commit() == 4
        assert pruned.result() == 0
    assert [backend.get(job_id) is not None for job_id in ids] == [False] * 4 + [True] * 6


def test_prunes_by_age_do_not_wait_for_each_other(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    ids = [in_state(backend, State.COMPLETED) for _ in range(4)]
    postgres_admin.execute(f"UPDATE {SCHEMA}.history SET finished_at = finished_at - 2 * {DAY}")  # noqa: S608
    held = Held(
        backend,
        lambda tx: prune(tx, older_than=DAY, states=(), keep=None, limit=3, spare=()),
    )
    with beside(postgres_admin, lambda: backend.prune(older_than=DAY)) as pruned:
        waited = not pruned.done()
        assert held.commit() == 3
        assert pruned.result() == 1
    assert not waited
    assert [backend.get(job_id) for job_id in ids] == [None] * 4


def test_a_restore_waits_for_a_push_of_its_key_and_is_a_conflict(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    job = the_job(backend, pushed(backend, key="ana"))
    backend.delete([job.id])
    held = Held(backend, lambda tx: push(tx, [a_message(key="ana")]))
    with beside(postgres_admin, lambda: backend.restore([job])) as restored:
        held.commit()
        assert restored.result()[0].status == "conflict"


def test_a_lease_that_is_being_prolonged_is_not_reaped(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    job = claimed(backend, lease=0.001)
    wait_until(lambda: backend.snapshot().at > (job.expires_at or 0), what="the lease to expire")
    beats = [Beat(job.id, job.fence)]
    held = Held(backend, lambda tx: heartbeat(tx, WORKER, beats, lease=60, answered=-1))
    with beside(postgres_admin, backend.reap) as reaped:
        waited = not reaped.done()
        held.commit()
        assert reaped.result() == []
    assert not waited
    assert state_of(backend, job.id) is State.PROCESSING


def test_a_job_that_is_being_replaced_does_not_end_by_its_old_deadline(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    old = the_job(backend, pushed(backend, "old", id="x", expires=0.001))
    wait_until(lambda: backend.snapshot().at > (old.deadline or 0), what="the deadline to pass")
    held = Held(backend, lambda tx: push(tx, [a_message("new", id="x", replace=True)]))
    with beside(postgres_admin, backend.reap) as reaped:
        waited = not reaped.done()
        held.commit()
        assert reaped.result() == []
    assert not waited
    assert state_of(backend, "x") is State.PENDING


def test_a_purge_waits_for_a_claim_and_leaves_it_alone(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    first, second = pushed(backend), pushed(backend)
    held = Held(backend, poll_in)
    with beside(postgres_admin, lambda: backend.purge("mail")) as purged:
        held.commit()
        assert purged.result() == 1
    assert state_of(backend, first) is State.PROCESSING
    assert backend.get(second) is None


def test_of_two_who_make_a_cell_at_once_one_does(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    held = Held(backend, lambda tx: write_cell(tx, "slot", "mine", expect=0, ttl=None))
    with beside(postgres_admin, lambda: backend.write_cell("slot", "ours", expect=0)) as written:
        assert held.commit().version == 1
        assert written.result() is None
    assert [cell.value for cell in backend.read_cells("slot")] == ["mine"]


def test_a_named_job_that_is_being_claimed_is_passed_by(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    first, second = pushed(backend), pushed(backend)
    held = Held(backend, poll_in)
    with beside(postgres_admin, lambda: claimed_by_name(backend, first, second)) as named:
        waited = not named.done()
        held.commit()
        assert named.result() == [second]
    assert not waited


def test_a_claim_of_named_jobs_waits_for_a_pause_of_their_queue(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    job_id = pushed(backend)
    held = Held(backend, lambda tx: pause_queue(tx, "mail"))
    with beside(postgres_admin, lambda: claimed_by_name(backend, job_id)) as named:
        assert not named.done()
        held.commit()
        assert named.result() == []


def claimed_by_name(backend: PostgresqlBackend, *ids: str) -> list[str]:
    return [job.id for job in backend.claim(WORKER, {"mail": ids}, lease=60)]


def test_of_two_retries_at_once_one_counts(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    in_state(backend, State.FAILED, id="x")
    held = Held(backend, lambda tx: operate(tx, Act.RETRY, ["x"]))
    with beside(postgres_admin, lambda: backend.retry(["x"])) as retried:
        held.commit()
        assert retried.result()[0].refused
    assert the_job(backend, "x").generation == 2
