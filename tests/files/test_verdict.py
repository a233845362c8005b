"""The judge sees what it is there for, and nothing in a store that is as it should be."""

from __future__ import annotations

from dataclasses import replace

import pytest
from chaos.disk.course import Course, Views
from chaos.disk.healing import Healing
from chaos.disk.inodes import Inodes
from chaos.disk.litter import litter
from chaos.disk.scenes import ACK, TWO, A, B
from chaos.disk.simulated import SimulatedDisk
from chaos.disk.steps import heartbeat, operate, poll, push, settle
from chaos.disk.verdict import missing, orphans, unlike

from ferryman import State
from ferryman.backends.memory.backend import MemoryBackend
from ferryman.testing import FakeClock

HANDED = Course.of([*TWO, settle(ACK, "a", children=1)])
"""Two jobs are pushed, claimed, and the first one is acked with a child."""
BEFORE, AFTER = HANDED.views[2], HANDED.views[3]


def findings(found: Views) -> list[str]:
    return [*unlike(found, HANDED.after_crash(2)), *orphans(found, BEFORE)]


def test_every_job_may_be_as_before_the_act_or_as_after_it() -> None:
    assert findings(BEFORE) == []
    assert findings(AFTER) == []


@pytest.mark.parametrize("job_id", ["a", "b"])
def test_a_lost_job_is_seen(job_id: str) -> None:
    left = {one: job for one, job in AFTER.items() if one != job_id}
    assert any(text.startswith(job_id) for text in findings(left))


def test_a_job_that_is_half_changed_is_seen() -> None:
    half = replace(AFTER["a"], result=None)
    assert len(findings({**AFTER, "a": half})) >= 1


def test_a_job_that_nobody_pushed_is_seen() -> None:
    assert findings({**AFTER, "x": replace(AFTER["b"], id="x")}) != []


def test_a_child_without_its_parents_record_is_seen() -> None:
    child = next(job for job in AFTER.values() if job.queue == "next")
    assert findings({**BEFORE, child.id: child}) != []


def test_a_child_that_never_comes_is_seen() -> None:
    child = next(job for job in AFTER.values() if job.queue == "next")
    left = {one: job for one, job in AFTER.items() if one != child.id}
    assert list(missing(left, AFTER, BEFORE)) != []
    assert list(missing(AFTER, AFTER, BEFORE)) == []


def test_a_loss_of_power_may_take_a_claim_but_no_settlement() -> None:
    course = Course.of([push(A, B), poll(), settle(ACK, "a")])
    allowed = course.after_loss(3)
    assert {job and job.state for job in allowed["b"]} == {State.PENDING, State.PROCESSING}
    assert {job and job.state for job in allowed["a"]} == {State.COMPLETED}


def test_a_report_may_outlive_its_claim() -> None:
    course = Course.of([push(A), poll(), heartbeat(checkpoint="7")])
    kept = [job for job in course.after_loss(3)["a"] if job and job.stored_checkpoint == "7"]
    assert {job.state for job in kept} == {State.PENDING, State.PROCESSING}


def test_an_acknowledged_operators_act_is_not_taken_back() -> None:
    course = Course.of([push(A), operate("cancel", "a")])
    assert [job and job.state for job in course.after_loss(2)["a"]] == [State.CANCELLED]


def test_a_second_run_of_what_had_ended_is_seen() -> None:
    clock = FakeClock()
    backend = MemoryBackend(clock)
    backend.push([A])
    ended = replace(BEFORE["a"], state=State.COMPLETED)
    healing = Healing(backend, clock, {"a": ended})
    healing.run()
    assert any("had ended" in text for text in healing.findings)


def test_a_job_that_cannot_come_to_an_end_is_seen() -> None:
    clock = FakeClock()
    backend = MemoryBackend(clock)
    backend.push([replace(A, queue="elsewhere")])
    healing = Healing(backend, clock, {})
    healing.run()
    assert any("stuck" in text for text in healing.findings)


def test_litter_and_second_records_are_seen() -> None:
    disk = SimulatedDisk(Inodes(), FakeClock())
    for folder in (
        "/store",
        "/store/mail",
        *(f"/store/mail/{name}" for name in ("completed", "failed")),
    ):
        disk.make_folder(folder)
    disk.create("/store/mail/completed/a.json", b"{}", sync=True)
    views = {"a": AFTER["a"]}
    assert list(litter(disk, "/store", views)) == []
    disk.create("/store/mail/failed/a.json", b"{}", sync=True)
    disk.make_folder("/store/.tmp")
    disk.create("/store/.tmp/1", b"", sync=False)
    assert len(list(litter(disk, "/store", views))) == 2
