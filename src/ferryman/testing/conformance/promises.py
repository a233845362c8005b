"""The promises, word for word.

Promise 7 is in `outage`. What holds only under races and kills is in `races` and `crash`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import pytest

from ferryman.errors import Unsupported
from ferryman.ids import child_id
from ferryman.job import State
from ferryman.lifecycle import Verdict
from ferryman.message import MAX_SECONDS
from ferryman.queue.capabilities import Capabilities
from ferryman.queue.open import open_backend
from ferryman.testing.conformance.given import (
    AT_ONCE,
    DAY,
    a_message,
    ack,
    an_error,
    beat,
    claim,
    claimed,
    claims,
    fail,
    give_back,
    in_state,
    nack,
    pushed,
    settle,
    settlement,
    several,
    state_of,
    the_job,
)
from ferryman.testing.conformance.store import Store, needs

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman.queue.contract import Backend
    from ferryman.testing.clock import FakeClock


class Promise1Push(Store):
    """When push returns, the job survives; pushing again with the same id is safe."""

    def test_promise_1_a_job_is_there_when_push_returns(self, backend: Backend) -> None:
        assert state_of(backend, pushed(backend)) is State.PENDING

    def test_promise_1_a_job_is_there_for_whoever_opens_the_store_next(
        self, backend: Backend, url: str, clock: FakeClock
    ) -> None:
        needs(backend, "durable")
        ids = several(backend, 3)
        backend.pause_queue("post")
        backend.close()
        again = open_backend(url, clock)
        assert [job.id for job in claims(again)] == ids
        assert again.snapshot().queues["post"].paused
        again.close()

    def test_promise_1_a_job_is_there_for_those_who_have_the_store_open(
        self, backend: Backend, url: str, clock: FakeClock
    ) -> None:
        needs(backend, "shared")
        other = open_backend(url, clock)
        job_id = pushed(backend)
        assert claim(other).id == job_id
        other.close()

    def test_promise_1_pushing_again_with_the_same_id_makes_one_job(self, backend: Backend) -> None:
        message = a_message("body")
        for _ in range(3):
            backend.push([message])
        assert [job.id for job in claims(backend)] == [message.id]


class Promise2Run(Store):
    """Started at least once, charged at most `max_attempts` times; a crash is charged."""

    @pytest.mark.parametrize("max_attempts", [1, 2, 5])
    def test_promise_2_a_job_that_always_errs_starts_max_attempts_times(
        self, backend: Backend, max_attempts: int
    ) -> None:
        job_id = pushed(backend, max_attempts=max_attempts)
        starts = 0
        while jobs := claims(backend):
            starts += 1
            settle(backend, nack(jobs[0], delay=0))
        assert (starts, state_of(backend, job_id)) == (max_attempts, State.FAILED)

    @pytest.mark.parametrize("max_attempts", [1, 2, 5])
    def test_promise_2_a_job_that_always_kills_its_worker_starts_max_attempts_times(
        self, backend: Backend, clock: FakeClock, max_attempts: int
    ) -> None:
        job_id = pushed(backend, max_attempts=max_attempts, backoff=AT_ONCE)
        starts = 0
        while claims(backend):
            starts += 1
            clock.advance(61)
            backend.reap()
        assert (starts, state_of(backend, job_id)) == (max_attempts, State.FAILED)

    def test_promise_2_a_claim_given_back_is_never_charged(self, backend: Backend) -> None:
        job_id = pushed(backend, max_attempts=1)
        for _ in range(10):
            settle(backend, give_back(claim(backend)))
        assert the_job(backend, job_id).attempts == 0
        assert settle(backend, ack(claim(backend))).state is State.COMPLETED

    def test_promise_2_a_second_claim_follows_only_the_end_of_the_first_lease(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend, backoff=AT_ONCE)
        clock.advance(59)
        backend.reap()
        assert claims(backend, worker="other") == []
        clock.advance(2)
        backend.reap()
        assert claim(backend, worker="other").id == job.id


class Promise3Finish(Store):
    """One terminal state a generation; a stale fence records nothing; a repeat is applied."""

    @pytest.mark.parametrize("verdict", list(Verdict))
    def test_promise_3_a_stale_fence_is_refused_for_every_verdict(
        self, backend: Backend, clock: FakeClock, verdict: Verdict
    ) -> None:
        stale = claimed(backend, worker="w1", backoff=AT_ONCE)
        clock.advance(61)
        backend.reap()
        settle(backend, nack(claim(backend, worker="w2"), delay=0))
        held = claim(backend, worker="w3")
        before = the_job(backend, held.id)
        late = settlement(stale, verdict, error=an_error(stale), result='"late"')
        assert not settle(backend, late).applied
        assert the_job(backend, held.id) == before

    # The verdict `expire` is the reaper's own: to say it again would be no news.
    @pytest.mark.parametrize("verdict", [v for v in Verdict if v is not Verdict.EXPIRE])
    def test_promise_3_a_reaped_claim_is_refused_for_every_verdict(
        self, backend: Backend, clock: FakeClock, verdict: Verdict
    ) -> None:
        stale = claimed(backend)
        clock.advance(61)
        backend.reap()
        before = the_job(backend, stale.id)
        assert not settle(backend, settlement(stale, verdict, result='"late"')).applied
        assert the_job(backend, stale.id) == before

    def test_promise_3_a_stale_fence_cannot_heartbeat_or_report(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        stale = claimed(backend, worker="w1")
        settle(backend, nack(stale, delay=0))
        held = claim(backend, worker="w2")
        clock.advance(10)
        before = the_job(backend, held.id)
        assert not beat(backend, stale, percent=99, note="late", checkpoint='"late"').held
        assert the_job(backend, held.id) == before

    def test_promise_3_a_stale_fence_cannot_hand_over(self, backend: Backend) -> None:
        stale = claimed(backend)
        settle(backend, nack(stale, delay=0))
        claim(backend)
        settle(backend, ack(stale, children=[a_message(id="child")]))
        assert backend.get("child") is None

    @pytest.mark.parametrize("fence", [-1, 0, 2, 1_000_000])
    def test_promise_3_a_fence_that_never_was_is_refused(
        self, backend: Backend, fence: int
    ) -> None:
        job = claimed(backend)
        assert not settle(backend, replace(ack(job), fence=fence)).applied
        assert settle(backend, ack(job)).applied

    @pytest.mark.parametrize("verdict", [v for v in Verdict if v is not Verdict.EXPIRE])
    def test_promise_3_the_same_settle_sent_twice_answers_applied(
        self, backend: Backend, verdict: Verdict
    ) -> None:
        job = claimed(backend)
        ending = settlement(job, verdict, error=an_error(job))
        first = settle(backend, ending)
        after = the_job(backend, job.id)
        assert (first.applied, settle(backend, ending).applied) == (True, True)
        assert the_job(backend, job.id) == after

    def test_promise_3_the_first_of_two_verdicts_stands(self, backend: Backend) -> None:
        job = claimed(backend)
        assert settle(backend, fail(job)).applied
        assert not settle(backend, ack(job, '"late"')).applied
        found = the_job(backend, job.id)
        assert (found.state, found.result) == (State.FAILED, None)


class Promise4HandOff(Store):
    """The terminal record is the commit; the children follow from it, once."""

    def test_promise_4_parent_and_children_are_one_commit(self, backend: Backend) -> None:
        parent = claimed(backend)
        child = a_message(id=child_id(parent.id, parent.generation, "next", 0))
        assert backend.get(child.id) is None
        settle(backend, ack(parent, children=[child]))
        assert (state_of(backend, parent.id), state_of(backend, child.id)) == (
            "completed",
            "pending",
        )

    def test_promise_4_handing_over_twice_makes_one_child(self, backend: Backend) -> None:
        parent = claimed(backend)
        child = a_message(queue="next", id=child_id(parent.id, parent.generation, "next", 0))
        settle(backend, ack(parent, children=[child]))
        settle(backend, ack(parent, children=[child]))
        backend.push([child])
        assert len(claims(backend, queue="next")) == 1

    def test_promise_4_a_new_generation_has_children_of_its_own(self, backend: Backend) -> None:
        parent = claimed(backend)
        settle(backend, fail(parent))
        backend.retry([parent.id])
        again = claim(backend)
        ids = {child_id(job.id, job.generation, "next", 0) for job in (parent, again)}
        assert len(ids) == 2


class Promise5Order(Store):
    """Higher priority, then `ready_at`, then push order; `ready_at` is never early.

    The turns of tenants, between the two, have cases of their own: `tenants`.
    """

    def test_promise_5_priority_then_ready_at_then_push_order(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        needs(backend, "order")
        pushed(backend, "fourth", delay=2)
        pushed(backend, "second", delay=1)
        pushed(backend, "third", delay=1)
        pushed(backend, "first", priority=1, delay=3)
        clock.advance(3)
        found = [job.payload for job in claims(backend)]
        assert found == ["first", "second", "third", "fourth"]

    def test_promise_5_ready_at_is_never_early(self, backend: Backend, clock: FakeClock) -> None:
        for number in range(1, 20):
            pushed(backend, delay=number * 0.25)
        waiting = 19
        while waiting:
            jobs = claims(backend)
            assert all(clock.now() - 0.125 < job.ready_at <= clock.now() for job in jobs)
            waiting -= len(jobs)
            clock.advance(0.125)


class Promise6Ids(Store):
    """The same id and body is the existing job, another body a conflict; over history."""

    def test_promise_6_the_same_id_and_body_returns_the_existing_job(
        self, backend: Backend
    ) -> None:
        message = a_message({"n": 1})
        first, second = backend.push([message])[0], backend.push([message])[0]
        assert (first.id, first.created) == (message.id, True)
        assert (second.id, second.created) == (message.id, False)

    def test_promise_6_another_body_is_a_conflict_unless_replace(self, backend: Backend) -> None:
        job_id = pushed(backend, "old")
        assert backend.push([a_message("new", id=job_id)])[0].status == "conflict"
        assert the_job(backend, job_id).payload == "old"
        assert backend.push([a_message("new", id=job_id, replace=True)])[0].status == "replaced"
        assert the_job(backend, job_id).payload == "new"

    @pytest.mark.parametrize("state", [State.COMPLETED, State.FAILED, State.CANCELLED])
    def test_promise_6_that_holds_over_history_for_a_day_at_least(
        self, backend: Backend, clock: FakeClock, state: State
    ) -> None:
        job_id = in_state(backend, state, "body")
        clock.advance(DAY - 1)
        backend.prune(older_than=DAY)
        statuses = [
            backend.push([a_message(body, id=job_id)])[0].status for body in ("body", "other")
        ]
        assert statuses == ["existing", "conflict"]


class Promise8Capabilities(Store):
    """What a store cannot hold it says, and the call that needs it raises `Unsupported`."""

    def test_promise_8_a_store_names_itself_and_its_promises(
        self, backend: Backend, record_property: Callable[[str, object], None]
    ) -> None:
        able = backend.capabilities
        assert isinstance(able, Capabilities)
        # In the report of a run, so that a table of what was proven can be made from it.
        record_property("capabilities", json.dumps(asdict(able)))
        assert able.backend.strip() == able.backend != ""
        assert able.order in ("strict", "strict per claim", "windowed", "by label")

    def test_promise_8_capabilities_do_not_change_while_it_is_open(self, backend: Backend) -> None:
        before = backend.capabilities
        settle(backend, ack(claimed(backend)))
        assert backend.capabilities == before

    def test_promise_8_a_delay_over_the_limit_is_unsupported(self, backend: Backend) -> None:
        if backend.capabilities.max_delay is None:
            assert backend.push([a_message(delay=MAX_SECONDS)])[0].created
        else:
            with pytest.raises(Unsupported, match=backend.capabilities.backend):
                backend.push([a_message(delay=backend.capabilities.max_delay + 1)])

    def test_promise_8_the_clock_of_the_store_is_the_given_one(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        assert backend.clock.now() == clock.now()
        clock.advance(5)
        assert backend.clock.now() == clock.now()
