"""The states of a breaker, without a store."""

from __future__ import annotations

import json

import pytest

from ferryman import TaskError
from ferryman.flow.circuit import Circuit, Phase, Terms

TERMS = Terms(threshold=3, cooldown=100.0, probes=2)
NOW = 1_000.0


def failing(times: int, now: float = NOW) -> Circuit:
    circuit = Circuit()
    for _ in range(times):
        circuit = circuit.failed(None, "503", now, TERMS)
    return circuit


def half_open(*tokens: str) -> tuple[Circuit, float]:
    later = NOW + 100.0
    return failing(3).probe(tokens, later, later + 60.0), later


def test_the_defaults_are_five_failures_three_hundred_seconds_and_three_probes() -> None:
    assert Terms() == Terms(threshold=5, cooldown=300.0, probes=3)


def test_it_stays_closed_below_the_threshold_and_opens_at_it() -> None:
    assert failing(2).phase(NOW) is Phase.CLOSED
    assert failing(3).phase(NOW) is Phase.OPEN


def test_a_success_in_between_starts_the_count_anew() -> None:
    circuit = failing(2).succeeded(None, NOW)
    assert circuit.failures == 0
    assert circuit.failed(None, "503", NOW, TERMS).phase(NOW) is Phase.CLOSED


def test_a_success_without_failures_changes_nothing() -> None:
    assert Circuit().succeeded(None, NOW) == Circuit()


def test_it_is_open_until_the_cooldown_is_over_and_then_half_open() -> None:
    assert failing(3).phase(NOW + 99.9) is Phase.OPEN
    assert failing(3).phase(NOW + 100.0) is Phase.HALF_OPEN


def test_only_so_many_probes_run_at_once() -> None:
    circuit, later = half_open("a", "b")
    assert circuit.free_probes(later, TERMS) == 0


def test_a_probe_that_never_reports_makes_room_for_another() -> None:
    circuit, later = half_open("a", "b")
    assert circuit.free_probes(later + 60.0, TERMS) == 2
    assert dict(circuit.probe(["c"], later + 60.0, later + 120.0).running) == {"c": later + 120.0}


def test_a_probe_that_succeeds_closes_it() -> None:
    circuit, later = half_open("a", "b")
    closed = circuit.succeeded("a", later)
    assert (closed.phase(later), closed.failures) == (Phase.CLOSED, 0)


def test_a_probe_that_fails_opens_it_for_another_cooldown() -> None:
    circuit, later = half_open("a", "b")
    opened = circuit.failed("b", "503", later, TERMS)
    assert (opened.phase(later), opened.until, opened.running) == (Phase.OPEN, later + 100.0, {})


def test_calls_that_began_before_it_opened_neither_prolong_nor_close_it() -> None:
    opened = failing(3)
    assert opened.failed(None, "503", NOW + 50.0, TERMS) == opened
    assert opened.succeeded(None, NOW + 50.0) == opened
    circuit, later = half_open("a")
    assert circuit.failed(None, "503", later, TERMS) == circuit
    assert circuit.succeeded(None, later) == circuit


def test_who_has_failed_since_the_last_success_is_known() -> None:
    circuit = Circuit().failed(None, "503", NOW, TERMS, "j1").failed(None, "503", NOW, TERMS, "j1")
    assert circuit.suspects == ("j1",)
    assert Circuit.read(circuit.document()).suspects == ("j1",)
    assert circuit.succeeded(None, NOW).suspects == ()


def test_it_survives_as_a_document() -> None:
    circuit, _ = half_open("a")
    assert Circuit.read(json.loads(json.dumps(circuit.document()))) == circuit
    assert Circuit.read({}) == Circuit()


@pytest.mark.parametrize("wrong", [{"threshold": 0}, {"cooldown": 0.0}, {"probes": -1}])
def test_terms_that_make_no_sense_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(TaskError, match=next(iter(wrong))):
        Terms(**wrong)
