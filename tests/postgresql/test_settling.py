"""Ends of claims: what the quick way must leave to the whole one, and one end for each claim."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ferryman.backends.postgresql.operators import operate
from ferryman.backends.postgresql.push import lock_keys
from ferryman.backends.postgresql.transaction import Transaction
from ferryman.job import LogLine, State
from ferryman.lifecycle import Act, Verdict
from ferryman.queue.heartbeat import Beat
from ferryman.testing.conformance.given import (
    a_message,
    ack,
    an_error,
    claimed,
    claims,
    fail,
    nack,
    settle,
    settlement,
    several,
    state_of,
    the_job,
)
from tests.postgresql.held import Held, beside
from tests.servers.postgres_fixtures import SCHEMA

if TYPE_CHECKING:
    import psycopg

    from ferryman.backends.postgresql import PostgresqlBackend

    Admin = psycopg.Connection[tuple[object, ...]]


@pytest.mark.parametrize(
    "report",
    [{"logs": (LogLine(1.0, "done"),)}, {"percent": 100.0}, {"note": "the last page"}],
)
def test_an_ack_keeps_what_it_reports(backend: PostgresqlBackend, report: dict[str, Any]) -> None:
    job = claimed(backend)
    assert settle(backend, settlement(job, Verdict.ACK, **report)).state is State.COMPLETED
    found = the_job(backend, job.id)
    assert {name: getattr(found, name) for name in report} == report


def test_an_ack_keeps_its_error(backend: PostgresqlBackend) -> None:
    job = claimed(backend)
    error = an_error(job, "half of it")
    assert settle(backend, settlement(job, Verdict.ACK, error=error)).state is State.COMPLETED
    assert the_job(backend, job.id).errors == (error,)


@pytest.mark.parametrize("name", ["a\nb", "a\0b", "a\ud800b"])
@pytest.mark.parametrize("field", ["job_id", "worker"])
def test_an_ack_of_what_cannot_exist_is_refused_and_spoils_no_other(
    backend: PostgresqlBackend, field: str, name: str
) -> None:
    several(backend, 2)
    first, second = claims(backend)
    wrong: dict[str, Any] = {field: name}
    strange = replace(ack(first), **wrong)
    assert [one.applied for one in backend.settle([strange, ack(second)])] == [False, True]
    assert not settle(backend, strange).applied
    assert state_of(backend, first.id) is State.PROCESSING


@pytest.mark.parametrize(("first", "second"), [(nack, fail), (fail, nack), (nack, ack)])
def test_of_two_ends_of_a_claim_in_a_batch_with_others_the_first_holds(
    backend: PostgresqlBackend, first: Any, second: Any
) -> None:
    several(backend, 2)
    job, other = claims(backend)
    receipts = backend.settle([first(job), nack(other), second(job)])
    assert [receipt.applied for receipt in receipts] == [True, True, False]
    found = the_job(backend, job.id)
    assert found.state is (State.PENDING if first is nack else State.FAILED)
    assert len(found.errors) == 1


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


def test_two_beats_of_a_claim_at_once_are_both_heard(backend: PostgresqlBackend) -> None:
    job = claimed(backend)
    beats = [
        Beat(job.id, job.fence, percent=number, logs=(LogLine(number, "line"),))
        for number in (1.0, 2.0)
    ]
    pulses = backend.heartbeat(job.worker or "", beats, lease=60)
    assert [pulse.held for pulse in pulses] == [True, True]
    found = the_job(backend, job.id)
    assert (found.percent, [line.at for line in found.logs]) == (2.0, [1.0, 2.0])


def test_ends_in_a_batch_hand_nothing_over_if_a_cancel_was_asked(
    backend: PostgresqlBackend,
) -> None:
    several(backend, 2)
    jobs = claims(backend)
    backend.cancel([job.id for job in jobs])
    children = [a_message(id=f"child of {job.id}", queue="children") for job in jobs]
    ends = [ack(job, children=[child]) for job, child in zip(jobs, children, strict=True)]
    assert {receipt.state for receipt in backend.settle(ends)} == {State.CANCELLED}
    assert [backend.get(child.id) for child in children] == [None, None]


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


def test_a_pause_takes_no_cancel_back_that_was_asked(backend: PostgresqlBackend) -> None:
    job = claimed(backend)
    backend.cancel([job.id])
    backend.pause([job.id])
    assert the_job(backend, job.id).asked == "cancel"
    assert settle(backend, nack(job)).state is State.CANCELLED
