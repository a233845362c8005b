"""Tenants: those of one queue take turns, however much each of them has pushed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.errors import InvalidMessage, Unsupported
from ferryman.job import State
from ferryman.message import MAX_NAME
from ferryman.testing.conformance.given import (
    ODD_NAMES,
    a_message,
    ack,
    claim,
    claims,
    give_back,
    nack,
    pushed,
    settle,
    several,
    the_job,
)
from ferryman.testing.conformance.processes import Rivals, race
from ferryman.testing.conformance.store import needs

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend
    from ferryman.testing.clock import FakeClock
    from ferryman.testing.conformance.rivals import Rival


class Tenants(Rivals):
    def test_where_tenants_take_no_turns_a_tenant_is_refused(self, backend: Backend) -> None:
        if backend.capabilities.tenants:
            pushed(backend, tenant="a")
            return
        with pytest.raises(Unsupported, match="tenant"):
            backend.push([a_message(), a_message(tenant="a")])
        assert claims(backend) == []

    @pytest.fixture
    def fair(self, backend: Backend) -> Backend:
        needs(backend, "tenants")
        needs(backend, "order")
        return backend

    def test_a_tenant_is_kept_with_its_job(self, fair: Backend) -> None:
        for name in ODD_NAMES:
            job_id = pushed(fair, tenant=name, queue="odd")
            assert the_job(fair, job_id).tenant == name
        assert {job.tenant for job in claims(fair, queue="odd")} == {*ODD_NAMES}
        assert the_job(fair, pushed(fair)).tenant is None
        with pytest.raises(InvalidMessage, match="tenant"):
            a_message(tenant="x" * (MAX_NAME + 1))

    def test_a_small_tenant_does_not_wait_behind_a_large_one(self, fair: Backend) -> None:
        several(fair, self.many, tenant="large")
        small = several(fair, 3, tenant="small")
        first = [job.id for job in claims(fair, 10)]
        assert {*small} <= {*first}

    def test_a_small_tenant_that_comes_late_does_not_wait_either(self, fair: Backend) -> None:
        several(fair, self.many, tenant="large")
        claims(fair, self.many // 2)
        small = [pushed(fair, tenant="small") for _ in range(3)]
        first = [claim(fair).id for _ in range(10)]
        assert {*small} <= {*first}

    def test_tenants_take_turns(self, fair: Backend) -> None:
        for tenant in "abc":
            several(fair, 4, tenant=tenant)
        order = "".join(job.tenant or "-" for job in claims(fair))
        assert order == "abc" * 4

    def test_one_job_at_a_time_they_take_turns_too(self, fair: Backend) -> None:
        for tenant in "aaaabbc":
            pushed(fair, tenant=tenant)
        order = [claim(fair).tenant for _ in range(7)]
        assert "".join(tenant or "-" for tenant in order) == "abcabaa"

    def test_a_tenants_own_jobs_keep_their_order(self, fair: Backend) -> None:
        first = several(fair, 20, tenant="a")
        several(fair, 5, tenant="b")
        second = several(fair, 20, tenant="a")
        order = [job.id for job in claims(fair) if job.tenant == "a"]
        assert order == [*first, *second]

    def test_one_that_pushes_whenever_its_job_is_done_starves_nobody(self, fair: Backend) -> None:
        several(fair, 10, tenant="patient")
        pushed(fair, tenant="eager")
        order: list[str | None] = []
        while len(order) < 20:
            job = claim(fair)
            order.append(job.tenant)
            settle(fair, ack(job))
            if job.tenant == "eager":
                pushed(fair, tenant="eager")
        assert order.count("patient") == 10

    def test_who_was_away_does_not_make_up_for_lost_time(self, fair: Backend) -> None:
        pushed(fair, tenant="away")
        several(fair, 60, tenant="busy")
        claims(fair, 30)
        several(fair, 20, tenant="away")
        order = [job.tenant for job in claims(fair, 10)]
        assert order.count("busy") == 5

    def test_priority_comes_before_turns(self, fair: Backend) -> None:
        several(fair, 3, tenant="a", priority=10)
        several(fair, 3, tenant="b")
        assert [job.tenant for job in claims(fair)] == ["a"] * 3 + ["b"] * 3

    def test_jobs_without_a_tenant_take_no_turns_and_come_first(self, fair: Backend) -> None:
        several(fair, 3, tenant="a")
        several(fair, 3)
        assert [job.tenant for job in claims(fair)] == [None] * 3 + ["a"] * 3

    def test_jobs_that_become_due_take_turns_from_then_on(
        self, fair: Backend, clock: FakeClock
    ) -> None:
        several(fair, 50, tenant="later", delay=30)
        several(fair, 50, tenant="now")
        clock.advance(31)
        order = [job.tenant for job in claims(fair, 20)]
        assert order.count("later") == order.count("now") == 10

    def test_a_claim_that_is_given_back_keeps_its_turn(self, fair: Backend) -> None:
        several(fair, 3, tenant="a")
        several(fair, 3, tenant="b")
        job = claim(fair)
        settle(fair, give_back(job))
        assert claim(fair).id == job.id

    def test_a_retry_after_a_pause_waits_for_its_turn(
        self, fair: Backend, clock: FakeClock
    ) -> None:
        job_id = pushed(fair, tenant="a")
        settle(fair, nack(claim(fair), delay=10))
        several(fair, 4, tenant="b")
        claims(fair, 2)
        clock.advance(11)
        assert [job.tenant for job in claims(fair)] == ["b", "a", "b"]
        assert the_job(fair, job_id).tenant == "a"

    def test_resumed_and_retried_jobs_take_turns(self, fair: Backend) -> None:
        resumed = several(fair, 3, tenant="a")
        fair.pause(resumed)
        cancelled = several(fair, 3, tenant="a")
        fair.cancel(cancelled)
        several(fair, 6, tenant="b")
        fair.resume(resumed)
        fair.retry(cancelled)
        assert [job.tenant for job in claims(fair)].count("a") == 6
        assert {the_job(fair, job_id).state for job_id in cancelled} == {State.PROCESSING}

    def test_a_replaced_job_changes_its_tenant(self, fair: Backend) -> None:
        pushed(fair, 1, id="known", tenant="a")
        several(fair, 2, tenant="a")
        fair.push([a_message(2, id="known", tenant="b", replace=True)])
        assert the_job(fair, "known").tenant == "b"
        assert "known" in [job.id for job in claims(fair, 2)]
        fair.push([a_message(3, id="next", tenant="b")])
        fair.push([a_message(4, id="next", replace=True)])
        assert claim(fair).tenant is None

    def test_a_restored_job_has_its_tenant_and_its_turn(
        self, fair: Backend, other: Backend
    ) -> None:
        several(fair, 5, tenant="b")
        job_id = pushed(other, tenant="a")
        fair.restore([the_job(other, job_id)])
        assert "a" in [job.tenant for job in claims(fair, 3)]

    def test_the_turns_of_two_queues_are_apart(self, fair: Backend) -> None:
        several(fair, 20, tenant="a", queue="post")
        several(fair, 5, tenant="a")
        pushed(fair, tenant="b")
        assert [job.tenant for job in claims(fair, 2)] == ["a", "b"]

    def test_skipped_tasks_do_not_stop_the_turns(self, fair: Backend) -> None:
        several(fair, 5, tenant="a", task="stuck")
        several(fair, 5, tenant="a")
        several(fair, 5, tenant="b")
        found = fair.poll("w", {"mail": 4}, lease=60, skip_tasks=["stuck"])
        assert [job.task for job in found] == ["send"] * 4

    def test_two_processes_share_a_queue_fairly(
        self, real: Backend, url: str, rivals: tuple[Rival, Rival]
    ) -> None:
        needs(real, "shared")
        needs(real, "tenants")
        crowd = [{"queue": "mail", "task": "send", "tenant": "large"} for _ in range(self.pairs)]
        few = [{"queue": "mail", "task": "send", "tenant": "small"} for _ in range(3)]
        race(url, rivals, [{"do": "push", "messages": m} for m in (crowd, few)])
        first = [job.tenant for job in claims(real, 10)]
        assert first.count("small") == 3
