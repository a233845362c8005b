"""heartbeat: leases that live on, what travels with them, and polls whose reply was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.job import Job, LogLine, State
from ferryman.queue.heartbeat import Beat
from ferryman.testing.conformance.given import (
    ack,
    beat,
    claim,
    claimed,
    claims,
    nack,
    pushed,
    settle,
    several,
    state_of,
    the_job,
)
from ferryman.testing.conformance.store import Store

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend
    from ferryman.testing.clock import FakeClock


class Heartbeat(Store):
    def test_a_heartbeat_prolongs_the_lease_from_now(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend)
        clock.advance(50)
        pulse = beat(backend, job)
        assert (pulse.job_id, pulse.fence, pulse.held, pulse.asked) == (job.id, 1, True, None)
        held = the_job(backend, job.id)
        assert (held.heartbeat_at, held.expires_at) == (clock.now(), clock.now() + 60)

    def test_only_the_last_heartbeat_decides_when_a_lease_ends(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend, lease=600)
        beat(backend, job, lease=10)
        assert the_job(backend, job.id).expires_at == clock.now() + 10
        clock.advance(11)
        assert len(backend.reap()) == 1

    def test_a_lease_kept_alive_is_never_reaped(self, backend: Backend, clock: FakeClock) -> None:
        job = claimed(backend)
        for _ in range(10):
            clock.advance(40)
            assert beat(backend, job).held
            assert list(backend.reap()) == []
        assert state_of(backend, job.id) is State.PROCESSING

    def test_a_heartbeat_changes_neither_fence_nor_attempts(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend)
        clock.advance(20)
        beat(backend, job)
        held = the_job(backend, job.id)
        assert (held.fence, held.attempts, held.started_at) == (1, 1, job.started_at)

    def test_an_expired_lease_that_nobody_reaped_can_be_prolonged(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend)
        clock.advance(3_600)
        assert beat(backend, job).held
        assert list(backend.reap()) == []

    def test_a_heartbeat_carries_progress(self, backend: Backend) -> None:
        job = claimed(backend)
        beat(backend, job, percent=40.5, note="page 40 of 475 ⛴")
        held = the_job(backend, job.id)
        assert (held.percent, held.note) == (40.5, "page 40 of 475 ⛴")

    def test_a_heartbeat_carries_a_checkpoint(self, backend: Backend) -> None:
        job = claimed(backend)
        beat(backend, job, checkpoint='{"page":40,"name":"é"}')
        assert the_job(backend, job.id).stored_checkpoint == '{"page":40,"name":"é"}'

    def test_a_heartbeat_carries_log_lines_in_order(self, backend: Backend) -> None:
        job = claimed(backend)
        beat(backend, job, logs=(LogLine(1.0, "one"), LogLine(2.0, "two")))
        beat(backend, job, logs=(LogLine(3.0, "three"),))
        logs = the_job(backend, job.id).logs
        assert [(line.at, line.text) for line in logs] == [
            (1.0, "one"),
            (2.0, "two"),
            (3.0, "three"),
        ]

    def test_a_bare_heartbeat_keeps_what_was_reported_before(self, backend: Backend) -> None:
        job = claimed(backend)
        beat(backend, job, percent=40, note="page 40", checkpoint="40")
        beat(backend, job)
        held = the_job(backend, job.id)
        assert (held.percent, held.note, held.stored_checkpoint) == (40, "page 40", "40")

    def test_the_last_thousand_log_lines_are_kept(self, backend: Backend) -> None:
        job = claimed(backend)
        beat(backend, job, logs=log_lines(0, 700))
        beat(backend, job, logs=log_lines(700, 1_200))
        texts = [line.text for line in the_job(backend, job.id).logs]
        assert texts == [f"line {number}" for number in range(200, 1_200)]

    def test_a_heartbeat_brings_what_an_operator_asked(self, backend: Backend) -> None:
        job = claimed(backend)
        backend.pause([job.id])
        assert beat(backend, job).asked == "pause"
        backend.cancel([job.id])
        assert beat(backend, job).asked == "cancel"

    def test_a_settled_claim_is_not_held(self, backend: Backend) -> None:
        job = claimed(backend)
        settle(backend, ack(job))
        assert not beat(backend, job, percent=99).held
        assert the_job(backend, job.id).percent is None

    def test_a_reaped_claim_is_not_held(self, backend: Backend, clock: FakeClock) -> None:
        job = claimed(backend)
        clock.advance(61)
        backend.reap()
        assert not beat(backend, job, checkpoint="1").held
        found = the_job(backend, job.id)
        assert (found.state, found.stored_checkpoint) == (State.PENDING, None)

    def test_a_claim_that_was_made_again_is_not_held_by_the_first(self, backend: Backend) -> None:
        first = claimed(backend, worker="w1")
        settle(backend, nack(first, delay=0))
        second = claim(backend, worker="w2")
        stale = beat(backend, first, percent=10, note="stale", checkpoint="1", logs=log_lines(0, 3))
        assert not stale.held
        assert the_job(backend, second.id).logs == ()
        found = the_job(backend, second.id)
        assert (found.percent, found.note, found.stored_checkpoint) == (None, None, None)
        assert (found.worker, found.expires_at) == ("w2", second.expires_at)

    def test_an_unknown_job_is_not_held(self, backend: Backend) -> None:
        [pulse] = backend.heartbeat("w1", [Beat("nobody", 1)], lease=60)
        assert (pulse.job_id, pulse.held) == ("nobody", False)

    def test_a_pending_job_is_not_held(self, backend: Backend) -> None:
        job_id = pushed(backend)
        [pulse] = backend.heartbeat("w1", [Beat(job_id, 0)], lease=60)
        assert not pulse.held
        assert state_of(backend, job_id) is State.PENDING

    def test_pulses_come_in_the_order_of_the_beats(self, backend: Backend) -> None:
        several(backend, 4)
        jobs = claims(backend)
        settle(backend, ack(jobs[1]))
        beats = [Beat(job.id, job.fence) for job in jobs] + [Beat("nobody", 7)]
        pulses = backend.heartbeat("worker-1", beats, lease=60)
        assert [pulse.job_id for pulse in pulses] == [*[job.id for job in jobs], "nobody"]
        assert [pulse.held for pulse in pulses] == [True, False, True, True, False]

    def test_two_beats_of_a_claim_at_once_are_both_heard(self, backend: Backend) -> None:
        job = claimed(backend)
        beats = [
            Beat(job.id, job.fence, percent=number, logs=(LogLine(number, "line"),))
            for number in (1.0, 2.0)
        ]
        pulses = backend.heartbeat(job.worker or "", beats, lease=60)
        assert [pulse.held for pulse in pulses] == [True, True]
        found = the_job(backend, job.id)
        assert (found.percent, [line.at for line in found.logs]) == (2.0, [1.0, 2.0])

    def test_a_heartbeat_without_beats_is_answered(self, backend: Backend) -> None:
        claimed(backend)
        assert list(backend.heartbeat("worker-1", [], lease=60)) == []


class LostPoll(Store):
    def test_a_claim_whose_reply_was_lost_is_given_back(self, backend: Backend) -> None:
        lost = lost_claim(backend)
        backend.heartbeat("w1", [], lease=60, answered=3)
        found = the_job(backend, lost.id)
        assert (found.state, found.worker, found.expires_at) == (State.PENDING, None, None)

    def test_a_lost_reply_costs_no_attempt(self, backend: Backend) -> None:
        lost = lost_claim(backend, max_attempts=1)
        backend.heartbeat("w1", [], lease=60, answered=3)
        found = the_job(backend, lost.id)
        assert (found.attempts, found.given_back, found.errors) == (0, 1, ())

    def test_a_job_of_a_lost_reply_is_claimable_at_once(self, backend: Backend) -> None:
        lost = lost_claim(backend)
        backend.heartbeat("w1", [], lease=60, answered=3)
        again = claim(backend, worker="w2")
        assert (again.id, again.fence, again.attempts) == (lost.id, 2, 1)

    def test_the_lost_claim_can_no_longer_be_settled(self, backend: Backend) -> None:
        lost = lost_claim(backend)
        backend.heartbeat("w1", [], lease=60, answered=3)
        assert not settle(backend, ack(lost)).applied
        assert state_of(backend, lost.id) is State.PENDING

    def test_listed_claims_are_kept(self, backend: Backend) -> None:
        several(backend, 2)
        kept, lost = claims(backend, worker="w1", turn=3)
        beats = [Beat(kept.id, kept.fence)]
        [pulse] = backend.heartbeat("w1", beats, lease=60, answered=3)
        assert pulse.held
        assert state_of(backend, kept.id) is State.PROCESSING
        assert state_of(backend, lost.id) is State.PENDING

    def test_claims_of_a_poll_not_yet_answered_are_kept(self, backend: Backend) -> None:
        lost = lost_claim(backend)
        backend.heartbeat("w1", [], lease=60, answered=2)
        assert state_of(backend, lost.id) is State.PROCESSING

    def test_claims_of_another_worker_are_kept(self, backend: Backend) -> None:
        lost = lost_claim(backend)
        backend.heartbeat("w2", [], lease=60, answered=9)
        assert state_of(backend, lost.id) is State.PROCESSING

    def test_without_an_answered_turn_nothing_is_given_back(self, backend: Backend) -> None:
        job = claimed(backend, worker="w1")
        backend.heartbeat("w1", [], lease=60)
        assert state_of(backend, job.id) is State.PROCESSING

    def test_a_stale_fence_lists_nothing(self, backend: Backend) -> None:
        pushed(backend)
        first = claim(backend, worker="w1", turn=1)
        settle(backend, nack(first, delay=0))
        second = claim(backend, worker="w1", turn=2)
        [pulse] = backend.heartbeat("w1", [Beat(first.id, first.fence)], lease=60, answered=2)
        assert not pulse.held
        assert (second.fence, state_of(backend, second.id)) == (2, State.PENDING)

    def test_a_lost_claim_that_was_asked_to_pause_is_paused(self, backend: Backend) -> None:
        lost = lost_claim(backend)
        backend.pause([lost.id])
        backend.heartbeat("w1", [], lease=60, answered=3)
        found = the_job(backend, lost.id)
        assert (found.state, found.attempts) == (State.PAUSED, 0)

    def test_a_lost_claim_that_was_asked_to_cancel_is_cancelled(self, backend: Backend) -> None:
        lost = lost_claim(backend)
        backend.cancel([lost.id])
        backend.heartbeat("w1", [], lease=60, answered=3)
        assert state_of(backend, lost.id) is State.CANCELLED


def lost_claim(backend: Backend, **options: int) -> Job:
    """A claim that worker w1 made in its turn 3; its reply never arrived."""
    pushed(backend, **options)
    return claim(backend, worker="w1", turn=3)


def log_lines(start: int, stop: int) -> tuple[LogLine, ...]:
    return tuple(LogLine(float(number), f"line {number}") for number in range(start, stop))
