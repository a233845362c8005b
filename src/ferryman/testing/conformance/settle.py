"""settle: how claims end, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ferryman.job import LogLine, State
from ferryman.lifecycle import MAX_GIVEN_BACK, Verdict
from ferryman.message import MAX_BYTES
from ferryman.queue.heartbeat import Beat
from ferryman.testing.conformance.given import (
    STEADY,
    ack,
    an_error,
    beat,
    call_off,
    claim,
    claimed,
    claims,
    fail,
    give_back,
    nack,
    pushed,
    settle,
    settlement,
    several,
    the_job,
)
from ferryman.testing.conformance.heartbeat import log_lines
from ferryman.testing.conformance.store import Store

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend
    from ferryman.testing.clock import FakeClock


class Settle(Store):
    def test_ack_completes_the_job_and_keeps_the_result(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend, worker="w9")
        clock.advance(7)
        receipt = settle(backend, ack(job, '{"sent":true}'))
        assert (receipt.job_id, receipt.applied) == (job.id, True)
        assert receipt.state is State.COMPLETED
        done = the_job(backend, job.id)
        assert (done.state, json.loads(done.result or "")) == (State.COMPLETED, {"sent": True})
        assert (done.finished_at, done.started_at) == (clock.now(), job.started_at)
        assert (done.worker, done.attempts) == ("w9", 1)

    def test_the_largest_result_fits(self, backend: Backend) -> None:
        job = claimed(backend)
        result = json.dumps("r" * (MAX_BYTES - 2))
        settle(backend, ack(job, result))
        assert the_job(backend, job.id).result == result

    def test_a_job_may_complete_without_a_result(self, backend: Backend) -> None:
        job = claimed(backend)
        settle(backend, ack(job))
        assert the_job(backend, job.id).result is None

    def test_a_completed_job_is_never_claimed_again(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        settle(backend, ack(claimed(backend)))
        clock.advance(3_600)
        assert list(backend.reap()) == []
        assert claims(backend) == []

    def test_the_delay_of_an_ack_is_ignored(self, backend: Backend) -> None:
        job = claimed(backend)
        receipt = settle(backend, settlement(job, Verdict.ACK, delay=60))
        assert receipt.state is State.COMPLETED

    def test_the_delay_of_a_cancel_is_ignored(self, backend: Backend) -> None:
        job = claimed(backend)
        receipt = settle(backend, settlement(job, Verdict.CANCEL, delay=60))
        assert receipt.state is State.CANCELLED

    def test_nack_gives_the_job_back_after_its_own_backoff(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        pushed(backend, backoff=STEADY)
        waits = []
        for _ in range(4):
            job = claim(backend)
            assert settle(backend, nack(job)).state is State.PENDING
            waits.append(the_job(backend, job.id).ready_at - clock.now())
            clock.advance(60)
        assert waits == [10, 30, 50, 50]

    def test_the_default_backoff_is_two_seconds_give_or_take_a_tenth(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        several(backend, 20)
        jobs = claims(backend)
        backend.settle([nack(job) for job in jobs])
        waits = [the_job(backend, job.id).ready_at - clock.now() for job in jobs]
        assert all(1.8 <= wait <= 2.2 for wait in waits)
        assert len(set(waits)) > 1

    def test_nack_with_a_delay_overrides_the_backoff(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend, backoff=STEADY)
        settle(backend, nack(job, delay=300))
        assert the_job(backend, job.id).ready_at == clock.now() + 300

    def test_nack_with_no_delay_is_ready_at_once(self, backend: Backend) -> None:
        job = claimed(backend)
        settle(backend, nack(job, delay=0))
        assert claim(backend).id == job.id

    def test_a_nacked_job_has_no_worker_and_no_lease(self, backend: Backend) -> None:
        job = claimed(backend)
        settle(backend, nack(job))
        found = the_job(backend, job.id)
        assert (found.worker, found.expires_at, found.finished_at) == (None, None, None)
        assert (found.started_at, found.attempts) == (job.started_at, 1)

    def test_every_error_is_kept_with_who_when_and_which_attempt(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job_id = pushed(backend, max_attempts=3)
        start = clock.now()
        for text in ("first ⛴", "second", "third"):
            settle(backend, nack(claim(backend, worker=f"w-{text}"), text, delay=0))
            clock.advance(10)
        job = the_job(backend, job_id)
        assert [(e.attempt, e.at, e.worker, e.kind, e.text, e.traceback) for e in job.errors] == [
            (1, start, "w-first ⛴", "ValueError", "first ⛴", "Traceback: first ⛴"),
            (2, start + 10, "w-second", "ValueError", "second", "Traceback: second"),
            (3, start + 20, "w-third", "ValueError", "third", "Traceback: third"),
        ]
        assert (job.state, job.error) == (State.FAILED, "third")

    def test_nack_at_the_last_attempt_fails_the_job(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend, max_attempts=1)
        assert settle(backend, nack(job, delay=0)).state is State.FAILED
        found = the_job(backend, job.id)
        assert (found.finished_at, found.worker) == (clock.now(), job.worker)
        assert claims(backend) == []

    def test_fail_ends_the_job_whatever_attempts_are_left(self, backend: Backend) -> None:
        job = claimed(backend, max_attempts=9)
        assert settle(backend, fail(job, "bad address")).state is State.FAILED
        found = the_job(backend, job.id)
        assert (found.attempts, found.error) == (1, "bad address")

    def test_a_failed_job_keeps_its_payload(self, backend: Backend) -> None:
        job = claimed(backend, {"to": "ana"}, max_attempts=1)
        settle(backend, fail(job))
        assert the_job(backend, job.id).payload == {"to": "ana"}

    def test_the_handlers_cancel_ends_the_job(self, backend: Backend, clock: FakeClock) -> None:
        job = claimed(backend)
        assert settle(backend, call_off(job)).state is State.CANCELLED
        found = the_job(backend, job.id)
        assert (found.finished_at, found.worker) == (clock.now(), job.worker)

    def test_a_claim_given_back_is_not_charged(self, backend: Backend) -> None:
        job = claimed(backend, max_attempts=1)
        assert settle(backend, give_back(job)).state is State.PENDING
        found = the_job(backend, job.id)
        assert (found.attempts, found.given_back, found.errors) == (0, 1, ())
        assert (found.worker, found.expires_at) == (None, None)

    def test_a_claim_given_back_is_ready_at_once(self, backend: Backend) -> None:
        job = claimed(backend)
        settle(backend, give_back(job))
        again = claim(backend)
        assert (again.id, again.fence, again.attempts) == (job.id, 2, 1)

    def test_a_snoozed_job_is_ready_after_its_delay(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend)
        settle(backend, give_back(job, delay=60))
        clock.advance(59)
        assert claims(backend) == []
        clock.advance(1)
        assert claim(backend).id == job.id

    def test_a_claim_given_back_may_carry_an_error(self, backend: Backend) -> None:
        job = claimed(backend)
        error = an_error(job, "no such task", kind="UnknownTask")
        settle(backend, settlement(job, Verdict.GIVE_BACK, error=error))
        assert [error.kind for error in the_job(backend, job.id).errors] == ["UnknownTask"]

    def test_a_job_given_back_a_thousand_times_is_failed(self, backend: Backend) -> None:
        job_id = pushed(backend)
        tired = replace(the_job(backend, job_id), given_back=MAX_GIVEN_BACK - 3)
        backend.delete([job_id])
        backend.restore([tired])
        for _ in range(2):
            assert settle(backend, give_back(claim(backend))).state is State.PENDING
        assert settle(backend, give_back(claim(backend))).state is State.FAILED
        job = the_job(backend, job_id)
        assert (job.state, job.given_back) == (State.FAILED, MAX_GIVEN_BACK)
        assert job.errors[-1].kind == "given_back"

    @pytest.mark.parametrize(
        "report",
        [{"logs": (LogLine(1.0, "bye"),)}, {"percent": 100.0}, {"note": "done ⛴"}],
        ids=lambda report: next(iter(report)),
    )
    def test_the_last_report_arrives_with_the_settlement(
        self, backend: Backend, report: dict[str, Any]
    ) -> None:
        job = claimed(backend)
        assert settle(backend, settlement(job, Verdict.ACK, **report)).state is State.COMPLETED
        done = the_job(backend, job.id)
        assert {name: getattr(done, name) for name in report} == report

    def test_an_ack_keeps_its_error(self, backend: Backend) -> None:
        job = claimed(backend)
        error = an_error(job, "half of it")
        assert settle(backend, settlement(job, Verdict.ACK, error=error)).state is State.COMPLETED
        assert the_job(backend, job.id).errors == (error,)

    def test_a_bare_settlement_keeps_what_the_heartbeats_reported(self, backend: Backend) -> None:
        job = claimed(backend)
        beat(backend, job, percent=40, note="page 40", checkpoint="40", logs=log_lines(0, 2))
        settle(backend, nack(job))
        found = the_job(backend, job.id)
        assert (found.stored_checkpoint, found.logs) == ("40", log_lines(0, 2))

    def test_the_last_thousand_log_lines_are_kept_over_attempts(self, backend: Backend) -> None:
        pushed(backend)
        for start in (0, 600):
            lines = log_lines(start, start + 600)
            settle(backend, settlement(claim(backend), Verdict.NACK, delay=0, logs=lines))
        [job] = claims(backend)
        texts = [line.text for line in the_job(backend, job.id).logs]
        assert texts == [f"line {number}" for number in range(200, 1_200)]

    @pytest.mark.parametrize("verdict", list(Verdict))
    def test_a_claim_on_a_deleted_job_does_not_fit_the_one_pushed_under_its_id_later(
        self, backend: Backend, clock: FakeClock, verdict: Verdict
    ) -> None:
        old = claimed(backend, id="again", worker="frozen")
        clock.advance(3_600)
        backend.reap()
        backend.delete(["again"])
        new = claimed(backend, id="again", worker="w2")
        assert new.fence == old.fence
        assert not settle(backend, settlement(old, verdict, error=an_error(old))).applied
        [pulse] = backend.heartbeat("frozen", [Beat(old.id, old.fence)], lease=60)
        assert not pulse.held
        assert settle(backend, ack(new)).state is State.COMPLETED
