"""Races between processes, for stores that several of them can share."""

from __future__ import annotations

import statistics
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from ferryman.job import State
from ferryman.testing.conformance.crowd import dead, running
from ferryman.testing.conformance.given import claims, several, state_of, the_job
from ferryman.testing.conformance.rivals import Rival
from ferryman.testing.conformance.store import Store, needs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.queue.contract import Backend


class Rivals(Store):
    """Two other processes at the store under test."""

    @pytest.fixture(scope="class")
    @classmethod
    def rivals(cls) -> Iterator[tuple[Rival, Rival]]:
        """Two processes for all cases: starting Python is the slow part."""
        with Rival() as one, Rival() as other:
            yield one, other


class Processes(Rivals):
    @pytest.fixture
    def shared(self, real: Backend) -> Backend:
        needs(real, "shared")
        return real

    def test_two_processes_never_claim_one_job(
        self, shared: Backend, url: str, rivals: tuple[Rival, Rival]
    ) -> None:
        ids = several(shared, self.jobs)
        found = race(
            url, rivals, [{"do": "drain", "worker": w, "queue": "mail", "batch": 3} for w in "ab"]
        )
        claimed = [tuple(claim) for claims_of_one in found for claim in claims_of_one]
        assert sorted(claimed) == sorted((job_id, 1) for job_id in ids)

    def test_two_processes_pushing_the_same_ids_create_each_job_once(
        self, shared: Backend, url: str, rivals: tuple[Rival, Rival]
    ) -> None:
        messages = [{"queue": "mail", "task": "send", "id": f"j{n}"} for n in range(self.pairs)]
        found = race(url, rivals, [{"do": "push", "messages": messages}] * 2)
        for (one, first), (other, second) in zip(*found, strict=True):
            assert (one, {first, second}) == (other, {"created", "existing"})
        assert shared.snapshot().count(State.PENDING) == self.pairs

    def test_two_processes_pushing_the_same_keys_create_one_job_for_each(
        self, shared: Backend, url: str, rivals: tuple[Rival, Rival]
    ) -> None:
        messages = [{"queue": "mail", "task": "send", "key": f"k{n}"} for n in range(self.pairs)]
        found = race(url, rivals, [{"do": "push", "messages": messages}] * 2)
        for (one, first), (other, second) in zip(*found, strict=True):
            assert (one, {first, second}) == (other, {"created", "existing"})
        assert shared.snapshot().count(State.PENDING) == self.pairs

    def test_of_two_processes_settling_one_claim_exactly_one_wins(
        self, shared: Backend, url: str, rivals: tuple[Rival, Rival]
    ) -> None:
        jobs = running(shared, self.pairs)
        held = [(job.id, job.fence, job.worker) for job in jobs]
        settle = {"do": "settle", "claims": held, "queue": "mail"}
        found = race(url, rivals, [settle | {"verdict": "ack"}, settle | {"verdict": "fail"}])
        for job, acked, failed in zip(jobs, *found, strict=True):
            assert acked is not failed
            assert state_of(shared, job.id) is (State.COMPLETED if acked else State.FAILED)

    def test_two_reaper_processes_return_each_lease_once(
        self, shared: Backend, url: str, rivals: tuple[Rival, Rival]
    ) -> None:
        jobs = dead(shared, self.pairs)
        found = race(url, rivals, [{"do": "reap", "batch": 5}] * 2)
        assert Counter(found[0] + found[1]) == Counter(job.id for job in jobs)
        assert {the_job(shared, job.id).attempts for job in jobs} == {1}

    def test_a_reaper_process_races_an_acking_one(
        self, shared: Backend, url: str, rivals: tuple[Rival, Rival]
    ) -> None:
        jobs = dead(shared, self.pairs)
        held = [(job.id, job.fence, job.worker) for job in jobs]
        settle = {"do": "settle", "claims": held, "queue": "mail", "verdict": "ack"}
        acked, reaped = race(url, rivals, [settle, {"do": "reap", "batch": 5}])
        for job, was_acked in zip(jobs, acked, strict=True):
            assert was_acked is (job.id not in reaped)
            assert state_of(shared, job.id) is (State.COMPLETED if was_acked else State.PENDING)

    def test_a_push_in_another_process_wakes_a_waiter_soon(
        self, shared: Backend, url: str, rivals: tuple[Rival, Rival]
    ) -> None:
        rival = rivals[0]
        rival.ask(url, "ready")
        delays = []
        for _ in range(9):
            rival.send(url, "push_now", queue="mail")
            assert shared.wait(["mail"], 10)
            delays.append(time.monotonic() - rival.answer())
            claims(shared)
        assert statistics.median(delays) < self.soon


def race(url: str, rivals: tuple[Rival, Rival], commands: list[dict[str, Any]]) -> list[Any]:
    """Let both processes open the store, then start both; their answers."""
    for rival in rivals:
        rival.ask(url, "ready")
    for rival, command in zip(rivals, commands, strict=True):
        rival.send(url, **command)
    return [rival.answer() for rival in rivals]
