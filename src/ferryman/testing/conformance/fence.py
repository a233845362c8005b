"""The fence: number and worker of a claim together; neither alone is enough."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ferryman.job import State
from ferryman.lifecycle import Verdict
from ferryman.queue.heartbeat import Beat
from ferryman.testing.conformance.given import (
    a_message,
    ack,
    an_error,
    beat,
    claim,
    claimed,
    give_back,
    nack,
    pushed,
    settle,
    settlement,
    the_job,
)
from ferryman.testing.conformance.store import Store

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend


class Fence(Store):
    @pytest.mark.parametrize("verdict", list(Verdict))
    def test_a_worker_that_claimed_again_cannot_settle_its_earlier_claim(
        self, backend: Backend, verdict: Verdict
    ) -> None:
        stale = claimed(backend, worker="w1")
        settle(backend, nack(stale, delay=0))
        settle(backend, nack(claim(backend, worker="w2"), delay=0))
        held = claim(backend, worker="w1")
        before = the_job(backend, held.id)
        assert not settle(backend, settlement(stale, verdict, error=an_error(stale))).applied
        assert the_job(backend, held.id) == before

    @pytest.mark.parametrize("verdict", list(Verdict))
    def test_the_claim_of_another_worker_cannot_be_settled(
        self, backend: Backend, verdict: Verdict
    ) -> None:
        held = claimed(backend, worker="w1")
        before = the_job(backend, held.id)
        assert not settle(backend, replace(settlement(held, verdict), worker="w2")).applied
        assert the_job(backend, held.id) == before

    def test_an_ending_repeated_by_another_worker_is_refused(self, backend: Backend) -> None:
        job = claimed(backend, worker="w1")
        assert settle(backend, ack(job)).applied
        assert not settle(backend, replace(ack(job), worker="w2")).applied

    def test_a_worker_that_claimed_again_cannot_heartbeat_its_earlier_claim(
        self, backend: Backend
    ) -> None:
        stale = claimed(backend, worker="w1")
        settle(backend, give_back(stale))
        held = claim(backend, worker="w1")
        assert not beat(backend, stale, percent=99, checkpoint='"late"').held
        assert the_job(backend, held.id) == held

    def test_the_claim_of_another_worker_cannot_be_heartbeaten(self, backend: Backend) -> None:
        held = claimed(backend, worker="w1")
        beats = [Beat(held.id, held.fence, percent=99, checkpoint='"late"')]
        [pulse] = backend.heartbeat("w2", beats, lease=600)
        assert not pulse.held
        assert the_job(backend, held.id) == held

    def test_a_claim_of_a_purged_job_cannot_end_its_successor(self, backend: Backend) -> None:
        stale = claimed(backend, id="order-7", worker="w1")
        settle(backend, give_back(stale))
        backend.purge("mail")
        pushed(backend, id="order-7")
        assert not settle(backend, ack(stale, children=[a_message(id="child")])).applied
        assert the_job(backend, "order-7").state is State.PENDING
        assert backend.get("child") is None
