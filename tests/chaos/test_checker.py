"""Each column sees what it is there for, and nothing in a run that was as it should be."""

from __future__ import annotations

import pytest
from chaos.checker import COLUMNS, early, finished_twice, lost, over_attempts, unfinished
from chaos.courier import HANDED
from chaos.records import Acted, Reaped, Record
from chaos.rules import RULES

from ferryman import Job, State
from ferryman.ids import child_id
from tests.chaos.given import NOW, a_job, ended, evidence, pushed, started

WELL: list[Record] = [pushed(), started(), ended()]


def test_a_run_as_it_should_be_has_no_findings() -> None:
    found = evidence(WELL, a_job())
    assert [finding for rule in {**COLUMNS, **RULES}.values() for finding in rule(found)] == []


def test_an_acknowledged_push_that_is_not_in_the_store_is_lost() -> None:
    assert [finding.id for finding in lost(evidence([pushed("b"), *WELL], a_job()))] == ["b"]


@pytest.mark.parametrize("kept", [0, 1])
def test_a_missing_child_of_a_completed_parent_is_lost(kept: int) -> None:
    parent = a_job(task="handover")
    ids = [child_id("a", 1, HANDED, index) for index in range(2)]
    found = evidence(WELL, parent, *(a_job(child) for child in ids[:kept]))
    assert [finding.id for finding in lost(found)] == ids[kept:]


def test_children_of_a_generation_that_was_retried_since_are_still_expected() -> None:
    parent = a_job(task="handover", generation=2, state=State.FAILED)
    assert len(list(lost(evidence(WELL, parent)))) == 2


CANCEL = Acted(0, "cancel", "a", "cancelled", NOW + 0.5)


@pytest.mark.parametrize(
    ("records", "job"),
    [
        ([ended(1), ended(2)], a_job(fence=2)),
        ([ended(1, "failed"), ended(1)], a_job()),
        ([ended(1), Reaped("a", "failed")], a_job()),
        ([ended(1), Acted(0, "cancel", "a", "cancelled", NOW)], a_job()),
        ([ended(1, "cancelled", delay=0.0), CANCEL], a_job(state=State.CANCELLED)),
        ([ended(1)], a_job(state=State.FAILED)),
        ([ended(1)], a_job(state=State.PENDING)),
        ([], a_job(fence=2, result='{"fence": 1, "generation": 1}')),
    ],
    ids=[
        "by two claims",
        "in two states",
        "by a worker and a reaper",
        "by a worker and an operator",
        "by a nack after an operator",
        "and has another state now",
        "and is pending again",
        "with the result of a claim that was lost",
    ],
)
def test_a_job_that_ended_twice_is_found(records: list[Record], job: Job) -> None:
    assert {finding.id for finding in finished_twice(evidence(records, job))} == {"a"}


@pytest.mark.parametrize(
    ("records", "job"),
    [
        ([ended(1), ended(1)], a_job()),
        ([ended(1), ended(2, generation=2)], a_job(fence=2, generation=2)),
        ([Reaped("a", "pending"), ended(2)], a_job(fence=2)),
        ([Acted(0, "cancel", "a", "processing", NOW), ended(1)], a_job()),
        ([Reaped("a", "failed"), ended(2, generation=2)], a_job(fence=2, generation=2)),
        (
            [ended(1, "cancelled", delay=0.0), CANCEL],
            a_job(state=State.CANCELLED, finished_at=CANCEL.at),
        ),
    ],
    ids=[
        "the same settle",
        "a retry",
        "a reap between",
        "a cancel asked late",
        "failed, retried",
        "a nack sent again after a cancel",
    ],
)
def test_what_only_looks_like_ending_twice_is_not(records: list[Record], job: Job) -> None:
    assert list(finished_twice(evidence(records, job))) == []


def test_a_charged_start_above_the_limit_is_found() -> None:
    starts = [started(fence, attempts=1) for fence in (1, 2, 3, 4)]
    assert len(list(over_attempts(evidence(starts, a_job())))) == 1
    assert len(list(over_attempts(evidence([started(attempts=4)], a_job())))) == 1
    assert len(list(over_attempts(evidence([], a_job(attempts=4))))) == 1


def test_starts_that_were_given_back_and_new_generations_are_not_charged() -> None:
    given_back = [started(fence, attempts=1, given_back=fence - 1) for fence in (1, 2, 3, 4)]
    assert list(over_attempts(evidence(given_back, a_job()))) == []
    retried = [started(fence, generation=1 + fence // 4, attempts=1) for fence in (1, 2, 3, 4)]
    assert list(over_attempts(evidence(retried, a_job()))) == []


@pytest.mark.parametrize(
    "records",
    [
        [started(ready_at=NOW + 1.000_001)],
        [pushed(earliest=NOW + 1.000_001), started()],
        [started(1), ended(1, "pending", delay=1.000_001), started(2)],
    ],
    ids=["than its ready_at", "than its producer said", "than its handler said"],
)
def test_a_start_a_microsecond_earlier_is_found(records: list[Record]) -> None:
    assert len(list(early(evidence(records, a_job())))) == 1


def test_a_frozen_handler_that_begins_after_the_next_claim_is_not_early() -> None:
    late: list[Record] = [started(1, at=NOW + 9), Reaped("a", "pending"), started(2)]
    assert list(early(evidence(late, a_job()))) == []


@pytest.mark.parametrize("state", [State.PENDING, State.PROCESSING, State.PAUSED])
def test_a_job_without_an_end_is_unfinished(state: State) -> None:
    assert [finding.id for finding in unfinished(evidence([], a_job(state=state)))] == ["a"]
