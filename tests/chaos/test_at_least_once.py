"""What a store without records is judged by, and what it is forgiven."""

from __future__ import annotations

from collections import Counter

from chaos.columns import columns_for
from chaos.records import Record, Returned
from chaos.rules import rules_for
from chaos.script import Planned
from chaos.terms import Terms

from ferryman.ids import child_id
from tests.chaos.given import NOW, ended, evidence, pushed, started

TERMS = Terms(at_least_once=True)
COLUMNS = columns_for(TERMS)
DONE: list[Record] = [pushed(), started(), Returned("a", 1), ended()]
PARENT = Planned("a", "handover", "handoff", {"children": 1}, 3, {"id": "a"})
CHILD = child_id("a", 1, "handed", 0)


def found(*records: Record, **more: object) -> set[str]:
    """The columns that are not empty."""
    seen = evidence(records, terms=TERMS, **more)  # type: ignore[arg-type]
    return {name for name, rule in COLUMNS.items() if list(rule(seen))}


def test_a_job_that_ran_to_its_end_is_no_finding() -> None:
    assert found(*DONE) == set()


def test_an_acknowledged_push_that_nobody_finished_is_lost() -> None:
    assert found(pushed(), started()) == {"lost"}


def test_an_end_whose_receipt_died_with_the_worker_counts() -> None:
    assert found(pushed(), started(), Returned("a", 1)) == set()


def test_a_failed_job_is_found_in_its_dead_letter_queue() -> None:
    seen = evidence([pushed(), started()], terms=TERMS, buried=["a"])
    assert not list(COLUMNS["lost"](seen))


def test_a_child_that_was_handed_over_and_never_ran_is_lost() -> None:
    assert found(*DONE, planned=[PARENT]) == {"lost"}
    assert found(*DONE, Returned(CHILD, 1), planned=[PARENT]) == set()


def test_a_second_run_to_the_end_is_counted() -> None:
    assert found(*DONE, started(2), Returned("a", 2)) == {"finished_twice"}


def test_a_start_beyond_the_attempts_of_its_message_is_seen() -> None:
    planned = [Planned("a", "brief", "swift", {}, 1, {"id": "a"})]
    assert found(*DONE, started(2), planned=planned) == {"over_attempts"}


def test_a_start_before_its_time_is_seen() -> None:
    assert found(*DONE, started(2, ready_at=NOW + 60)) == {"early"}


def test_messages_that_are_left_in_a_queue_are_unfinished() -> None:
    assert found(*DONE, counted=Counter({("swift", "pending"): 2})) == {"unfinished"}
    assert found(*DONE, counted=Counter({("swift", "failed"): 2})) == set()


def test_a_process_that_ended_by_itself_breaks_the_only_other_rule() -> None:
    seen = evidence(DONE, troubles=["worker-1 ended by itself"], terms=TERMS)
    assert [name for name, rule in rules_for(TERMS).items() if list(rule(seen))] == ["troubles"]
