"""What a relaxed store is forgiven, and what it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from chaos.checker import early, finished_twice, lost, over_attempts, unfinished
from chaos.rules import RULES, rules_for
from chaos.terms import Terms

from ferryman import State
from tests.chaos.given import NOW, a_job, ended, evidence, pushed, started

if TYPE_CHECKING:
    from chaos.records import Record

RELAXED = Terms(relaxed=True)
TWICE: list[Record] = [
    pushed(),
    started(node="one"),
    started(node="other"),
    ended(node="one"),
    ended(node="other"),
]


def test_two_nodes_that_ended_one_job_are_counted() -> None:
    found = evidence(TWICE, a_job(), duplicates=["a"], terms=RELAXED)
    assert {finding.id for finding in finished_twice(found)} == {"a"}
    broken = [name for name, rule in rules_for(RELAXED).items() if list(rule(found))]
    assert broken == []


def test_a_second_end_that_the_store_did_not_keep_is_found() -> None:
    found = evidence(TWICE, a_job(), terms=RELAXED)
    assert [finding.id for finding in RULES["uncounted"](found)] == ["a"]


def test_a_second_end_of_an_earlier_generation_must_be_kept_too() -> None:
    found = evidence(TWICE, a_job(generation=2, fence=2), terms=RELAXED)
    assert [finding.id for finding in RULES["uncounted"](found)] == ["a"]


@pytest.mark.parametrize(("nodes", "findings"), [(("one", "other"), 0), (("one", "one"), 1)])
def test_two_nodes_may_use_one_claim_number_but_one_node_uses_it_once(
    nodes: tuple[str, str], findings: int
) -> None:
    found = evidence([started(node=node) for node in nodes], a_job(), terms=RELAXED)
    assert len(list(rules_for(RELAXED)["fences"](found))) == findings


def test_a_second_end_that_a_strict_store_keeps_is_found() -> None:
    found = evidence([pushed(), started(), ended()], a_job(), duplicates=["a"])
    assert [finding.id for finding in finished_twice(found)] == ["a"]


def test_attempts_are_charged_by_each_node_for_itself() -> None:
    starts = [started(fence, node=node) for fence in (1, 2, 3) for node in ("one", "other")]
    assert list(over_attempts(evidence(starts, a_job(), terms=RELAXED))) == []
    assert list(over_attempts(evidence(starts, a_job())))
    again = [*starts, started(4, node="one")]
    assert len(list(over_attempts(evidence(again, a_job(), terms=RELAXED)))) == 1


def test_nothing_is_lost_early_or_unfinished_all_the_same() -> None:
    records: list[Record] = [pushed("b"), started(ready_at=NOW + 2)]
    found = evidence(records, a_job(state=State.PENDING), terms=RELAXED)
    assert [len(list(rule(found))) for rule in (lost, early, unfinished)] == [1, 1, 1]


@pytest.mark.parametrize(("clock", "findings"), [(0.0, 1), (1.0, 0)])
def test_a_store_with_a_clock_of_its_own_is_judged_to_within_its_error(
    clock: float, findings: int
) -> None:
    records: list[Record] = [pushed(earliest=NOW + 1.5), started()]
    assert len(list(early(evidence(records, a_job(), terms=Terms(clock))))) == findings
