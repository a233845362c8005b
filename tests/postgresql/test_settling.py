"""Ends of claims beside transactions of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ferryman.backends.postgresql.operators import operate
from ferryman.backends.postgresql.push import lock_keys
from ferryman.backends.postgresql.transaction import Transaction
from ferryman.job import State
from ferryman.lifecycle import Act
from ferryman.testing.conformance.given import (
    a_message,
    ack,
    claimed,
    claims,
    fail,
    nack,
    settle,
    several,
    state_of,
)
from tests.postgresql.held import Held, beside
from tests.servers.postgres_fixtures import SCHEMA

if TYPE_CHECKING:
    import psycopg

    from ferryman.backends.postgresql import PostgresqlBackend

    Admin = psycopg.Connection[tuple[object, ...]]


def test_an_end_that_is_sent_again_is_found_though_its_job_is_retried_meanwhile(
    backend: PostgresqlBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = claimed(backend)
    settle(backend, fail(job))
    look = Transaction.row

    def look_and_wait(tx: Transaction, name: str, values: Any = ()) -> Any:
        row = look(tx, name, values)
        if name == "claim" and row is None:
            backend.retry([job.id])
        return row

    monkeypatch.setattr(Transaction, "row", look_and_wait)
    assert settle(backend, fail(job)).applied
    assert state_of(backend, job.id) is State.PENDING


@pytest.mark.parametrize("others", [0, 1])
def test_an_end_waits_for_an_operator_and_does_what_was_asked(
    backend: PostgresqlBackend, postgres_admin: Admin, others: int
) -> None:
    several(backend, 1 + others)
    jobs = claims(backend)
    held = Held(backend, lambda tx: operate(tx, Act.CANCEL, [jobs[0].id]))
    with beside(postgres_admin, lambda: backend.settle([nack(job) for job in jobs])) as receipts:
        held.commit()
        assert receipts.result()[0].state is State.CANCELLED


def test_an_end_that_waits_for_the_key_of_a_child_keeps_nobody_from_its_job(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    job = claimed(backend)
    held = Held(backend, lambda tx: lock_keys(tx, [("children", "ana")]))
    ending = ack(job, children=[a_message(queue="children", key="ana")])
    with beside(postgres_admin, lambda: backend.settle([ending])) as receipts:
        assert not receipts.done()
        try:
            free = f"SELECT FROM {SCHEMA}.jobs WHERE id = %s FOR UPDATE SKIP LOCKED"
            assert postgres_admin.execute(free, [job.id]).rowcount == 1
        finally:
            held.commit()
        assert receipts.result()[0].applied
