"""Each further rule sees what it is there for."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from chaos.cast import HOUSE
from chaos.courier import HANDED
from chaos.records import Acted, Asked, Saved
from chaos.rules import RULES
from chaos.script import Planned

from ferryman import JobError, State
from ferryman.ids import child_id
from tests.chaos.given import NOW, a_job, ended, evidence, pushed, started

if TYPE_CHECKING:
    from chaos.checker import Finding
    from chaos.evidence import Evidence
    from chaos.records import Record


def found_by(rule: str, found: Evidence) -> list[Finding]:
    others = [name for name, check in RULES.items() if name != rule and list(check(found))]
    assert others == []
    return list(RULES[rule](found))


def test_one_claim_that_started_twice() -> None:
    assert found_by("fences", evidence([started(1), started(1)], a_job()))


def test_a_later_claim_with_an_older_time() -> None:
    records = [started(1, claimed_at=NOW + 5), started(2)]
    assert found_by("fences", evidence(records, a_job(fence=2)))


def test_a_completed_job_that_nobody_started() -> None:
    assert found_by("unstarted", evidence([started(1)], a_job(fence=2)))


def test_a_job_that_nobody_planned() -> None:
    assert found_by("unexpected", evidence([started(job_id="z")], a_job("z")))


def test_a_message_that_became_two_jobs() -> None:
    body = '{"token": "a"}'
    records = [started(), started(job_id="b")]
    assert found_by("unexpected", evidence(records, a_job(), a_job("b", body=body)))


def test_a_child_of_a_parent_that_did_not_complete() -> None:
    child = child_id("a", 1, HANDED, 0)
    parent = a_job(task="handover", state=State.FAILED)
    records = [started(), started(job_id=child)]
    assert found_by("orphans", evidence(records, parent, a_job(child, body='{"token": "a/0"}')))


def test_a_checkpoint_that_the_next_claim_does_not_find() -> None:
    records: list[Record] = [started(1), Saved("a", 1, 3), started(2, checkpoint=2)]
    assert found_by("checkpoints", evidence(records, a_job(fence=2)))
    kept: list[Record] = [started(1), Saved("a", 1, 3), started(2, checkpoint=3)]
    assert not found_by("checkpoints", evidence(kept, a_job(fence=2)))


@pytest.mark.parametrize(("finished", "findings"), [(None, 1), (NOW + 2, 1), (NOW + 1, 0)])
def test_a_key_that_two_unfinished_jobs_hold(finished: float | None, findings: int) -> None:
    planned = [
        Planned(token, "brief", "swift", {}, 3, {"key": "k", "unique": "unfinished"})
        for token in ("a", "b")
    ]
    first = a_job(key="k", finished_at=finished)
    second = a_job("b", key="k", seq=2, created_at=NOW + 1)
    records = [started(), started(job_id="b")]
    assert len(found_by("keys", evidence(records, first, second, planned=planned))) == findings


@pytest.mark.parametrize(("claimed_at", "findings"), [(NOW, 0), (NOW + 2, 1), (NOW + 4, 0)])
def test_a_claim_from_a_paused_queue(claimed_at: float, findings: int) -> None:
    records: list[Record] = [
        Acted(0, "pause_queue", "swift", None, NOW + 1),
        Asked(1, "resume_queue", "swift", NOW + 3),
        started(claimed_at=claimed_at),
    ]
    assert len(found_by("pauses", evidence(records, a_job()))) == findings


def test_a_claim_after_the_deadline() -> None:
    assert found_by("deadlines", evidence([started()], a_job(deadline=NOW + 1)))
    assert not found_by("deadlines", evidence([started()], a_job(deadline=NOW + 1.1)))


@pytest.mark.parametrize(
    ("after", "findings"), [(HOUSE.pace.lease * 0.99, 1), (HOUSE.pace.lease, 0)]
)
def test_a_lease_that_was_reaped_while_it_held(after: float, findings: int) -> None:
    error = JobError(1, NOW + 1 + after, "w1", "lease", "Worker timed out")
    job = a_job(state=State.FAILED, errors=(error,))
    assert len(found_by("live_leases", evidence([started()], job))) == findings


def test_a_counter_that_drifted() -> None:
    counted = Counter({("swift", "completed"): 2})
    assert found_by("counters", evidence([started()], a_job(), counted=counted))


def test_a_process_that_ended_by_itself() -> None:
    records: list[Record] = [pushed(), started(), ended()]
    assert found_by("troubles", evidence(records, a_job(), troubles=["worker-0 ended"]))
