"""settle: batches, what is refused, and the same settlement sent twice."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ferryman.job import State
from ferryman.lifecycle import Verdict
from ferryman.queue.settlement import Settlement
from ferryman.testing.conformance.given import (
    NO_IDS,
    ack,
    an_error,
    call_off,
    claimed,
    claims,
    fail,
    give_back,
    in_state,
    nack,
    settle,
    settlement,
    several,
    state_of,
    the_job,
)
from ferryman.testing.conformance.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman.job import Job
    from ferryman.queue.contract import Backend
    from ferryman.testing.clock import FakeClock

    Ending = Callable[[Job], Settlement]


class Receipts(Store):
    def test_an_empty_batch_is_answered(self, backend: Backend) -> None:
        assert list(backend.settle([])) == []

    @pytest.mark.parametrize("stale_first", [True, False])
    def test_a_stale_ack_beside_the_current_one_is_refused(
        self, backend: Backend, stale_first: bool
    ) -> None:
        stale = claimed(backend)
        settle(backend, give_back(stale))
        current = claims(backend)[0]
        batch = [ack(stale), ack(current)] if stale_first else [ack(current), ack(stale)]
        receipts = backend.settle(batch)
        assert [receipt.applied for receipt in receipts] == [one.fence == 2 for one in batch]
        assert state_of(backend, stale.id) is State.COMPLETED

    def test_receipts_of_a_mixed_batch_come_in_order(self, backend: Backend) -> None:
        several(backend, 5)
        a, b, c, d, e = claims(backend)
        unknown = Settlement("nobody", 1, "w1", "mail", Verdict.ACK)
        batch = [ack(a), nack(b), unknown, fail(c), give_back(d), call_off(e), nack(a)]
        receipts = backend.settle(batch)
        assert [receipt.job_id for receipt in receipts] == [s.job_id for s in batch]
        assert [receipt.applied for receipt in receipts] == [True] * 2 + [False] + [True] * 3 + [
            False
        ]
        states = [state_of(backend, job.id) for job in (a, b, c, d, e)]
        assert states == ["completed", "pending", "failed", "pending", "cancelled"]

    def test_many_claims_are_settled_in_one_batch(self, backend: Backend) -> None:
        several(backend, self.many)
        receipts = backend.settle([ack(job) for job in claims(backend, self.many)])
        assert all(receipt.applied for receipt in receipts)
        assert backend.snapshot().count(State.COMPLETED) == self.many

    def test_one_refused_settlement_spoils_no_other(self, backend: Backend) -> None:
        several(backend, 2)
        first, second = claims(backend)
        settle(backend, fail(first))
        refused, applied = backend.settle([ack(first), ack(second)])
        assert (refused.applied, applied.applied) == (False, True)
        assert state_of(backend, second.id) is State.COMPLETED

    @pytest.mark.parametrize("name", NO_IDS, ids=ascii)
    @pytest.mark.parametrize("field", ["job_id", "worker"])
    def test_an_ack_of_what_cannot_exist_is_refused_and_spoils_no_other(
        self, backend: Backend, field: str, name: str
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
        self, backend: Backend, first: Ending, second: Ending
    ) -> None:
        several(backend, 2)
        job, other = claims(backend)
        receipts = backend.settle([first(job), nack(other), second(job)])
        assert [receipt.applied for receipt in receipts] == [True, True, False]
        found = the_job(backend, job.id)
        assert found.state is (State.PENDING if first is nack else State.FAILED)
        assert len(found.errors) == 1

    def test_a_claim_settled_twice_in_one_batch_ends_once(self, backend: Backend) -> None:
        job = claimed(backend)
        receipts = backend.settle([ack(job), ack(job), fail(job)])
        assert [receipt.applied for receipt in receipts] == [True, True, False]
        assert state_of(backend, job.id) is State.COMPLETED

    @pytest.mark.parametrize("state", [State.PENDING, State.PAUSED, State.CANCELLED])
    @pytest.mark.parametrize("verdict", list(Verdict))
    def test_a_job_that_never_ran_cannot_be_settled(
        self, backend: Backend, state: State, verdict: Verdict
    ) -> None:
        job_id = in_state(backend, state)
        before = the_job(backend, job_id)
        assert not settle(backend, Settlement.of(before, verdict)).applied
        assert the_job(backend, job_id) == before

    def test_a_lease_that_expired_but_was_not_reaped_still_counts(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend)
        clock.advance(3_600)
        assert settle(backend, ack(job)).state is State.COMPLETED

    def test_a_nack_sent_again_is_applied_and_charged_once(self, backend: Backend) -> None:
        job = claimed(backend)
        first, again = settle(backend, nack(job)), settle(backend, nack(job))
        assert (first.applied, again.applied) == (True, True)
        found = the_job(backend, job.id)
        assert (found.attempts, len(found.errors), found.state) == (1, 1, State.PENDING)

    def test_a_give_back_sent_again_is_applied_and_counted_once(self, backend: Backend) -> None:
        job = claimed(backend)
        again = [settle(backend, give_back(job)).applied for _ in range(3)]
        assert again == [True, True, True]
        assert the_job(backend, job.id).given_back == 1

    @pytest.mark.parametrize("second", [v for v in Verdict if v is not Verdict.ACK])
    def test_a_completed_claim_refuses_every_other_verdict(
        self, backend: Backend, second: Verdict
    ) -> None:
        job = claimed(backend)
        settle(backend, ack(job, '"kept"'))
        assert not settle(backend, settlement(job, second, error=an_error(job))).applied
        done = the_job(backend, job.id)
        assert (done.state, done.result, done.errors) == (State.COMPLETED, '"kept"', ())
