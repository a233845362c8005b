"""Every workload runs from end to end with a few jobs. Speed is not tested here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from bench.__main__ import main
from bench.calls import Calls
from bench.choices import CHOICES
from bench.choices import main as choose
from bench.contest import hold
from bench.gates import (
    CYCLE,
    DOLLARS,
    DRAIN,
    DRAIN_BY_TWO,
    FOLDER_SYNCS,
    HELD,
    IDLE_P50,
    IDLE_P99,
    MANY_TO_ONE,
    PUSH,
    PUSH_MANY,
    RECOVERED,
    REQUESTS,
    TWO_TO_ONE,
    VERBS,
    backlog,
    by_a_hundred,
    drain_beside,
    requests,
)
from bench.measure import percentile
from bench.page import PAGE, fill
from bench.peers.leagues import LEAGUES
from bench.profile import main as profile
from bench.programme import BACKENDS, programme
from bench.progress import Lines
from bench.result import Pair, Result, as_json, read
from bench.table import table
from bench.web import web
from bench.workloads import Sizes

if TYPE_CHECKING:
    from pathlib import Path

    from bench.programme import Event

pytestmark = pytest.mark.thorough

KEYS = ["backend", "workload", "ours", "raw", "ratio", "gate", "goal", "met"]
JOBS = 50
FIGURES = {
    "push": {PUSH},
    "push_many": {PUSH_MANY},
    "cycle": {CYCLE},
    "drain": {DRAIN, DRAIN_BY_TWO, TWO_TO_ONE},
    "idle": {IDLE_P50, IDLE_P99},
    "backlog": {backlog(JOBS)},
    "pushes": {PUSH, PUSH_MANY, MANY_TO_ONE, FOLDER_SYNCS},
    "drains": {DRAIN, DRAIN_BY_TWO, TWO_TO_ONE},
    "drain_beside": {drain_beside(JOBS)},
    "drain_beside_a_million": {drain_beside(2 * JOBS)},
    "held_transaction": {HELD, RECOVERED},
    "batches": {PUSH_MANY, DRAIN, REQUESTS},
    "verbs": {*map(by_a_hundred, VERBS), *map(requests, VERBS), DOLLARS},
}
COUNTED = {FOLDER_SYNCS, DOLLARS, REQUESTS, *map(requests, VERBS)}
LONG = [one for one in programme(["file", "postgresql"], long=True) if one.workload is not web]
EVENTS = [*programme(list(BACKENDS)), *LONG]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.name)
def test_a_workload_runs_and_leaves_nothing_behind(event: Event, tmp_path: Path) -> None:
    results = hold([event], Sizes.all(JOBS), runs=1, watcher=Lines())
    figures = {result.workload.rpartition(": ")[2]: result for result in results}
    assert figures.keys() == FIGURES[event.workload.__name__]
    assert all(result.ours > 0 for result in results)
    assert all((figures[name].raw or 0) > 0 for name in figures if name not in COUNTED)
    assert list(tmp_path.iterdir()) == []


def test_the_command_prints_and_writes_results_with_the_named_keys(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "results.json"
    arguments = ["--backend", "memory", "--long", "--jobs", str(JOBS), "--runs", "2", "--json"]
    code = main([*arguments, "--output", str(output)])
    printed = capsys.readouterr().out
    rows = json.loads(output.read_text())
    assert rows == json.loads(printed)
    assert [list(row) for row in rows] == [KEYS] * len(rows)
    assert code == (0 if all(row["met"] for row in rows) else 1)


def test_one_workload_measured_alone_leaves_the_other_figures_as_they_were(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "results.json"
    others = [
        Result.of("sqlite", [Pair(DRAIN, 10.0, 100.0)]),
        Result.of("memory", [Pair("of another workload", 10.0, 100.0)]),
    ]
    output.write_text(as_json(others))
    options = ["--backend", "memory", "--jobs", str(JOBS), "--runs", "1", "--output", str(output)]
    main([*options, "--only", "idle"])
    assert {row.workload for row in read(output)[2:]} == {IDLE_P50, IDLE_P99}
    main([*options, "--only", "idle"])
    assert (read(output)[:2], len(read(output))) == (others, 4)
    assert main([*options, "--only", "no_such_workload"]) == 2
    assert "no_such_workload" in capsys.readouterr().err


def test_a_missed_gate_is_told_in_the_table_and_survives_the_file(tmp_path: Path) -> None:
    slow = Result.of("sqlite", [Pair(DRAIN, 10.0, 100.0), Pair(DRAIN, 30.0, 200.0)])
    fine = Result.of("sqlite", [Pair(IDLE_P50, 2.0, None)])
    assert (slow.ratio, slow.met, slow.verdict) == (0.125, False, "MISSED")
    assert (fine.ratio, fine.met, fine.verdict) == (None, True, "goal")
    assert "gates missed: 1" in table([slow, fine])
    (tmp_path / "results.json").write_text(as_json([slow, fine]))
    assert read(tmp_path / "results.json") == [slow, fine]


def test_upper_bounds_and_absolute_ones_look_at_the_right_number() -> None:
    many = backlog(100_000)
    assert Result.of("sqlite", [Pair(many, 1.4, 1.0)]).verdict == "gate"
    assert Result.of("sqlite", [Pair(many, 1.6, 1.0)]).verdict == "MISSED"
    assert Result.of("memory", [Pair(DRAIN, 50_000.0, 900_000.0)]).verdict == "gate"
    assert Result.of("memory", [Pair(PUSH, 1.0, 900_000.0)]).verdict == ""


def test_a_gate_holds_on_every_file_system() -> None:
    for file_system in ("ext4", "tmpfs", "xfs"):
        result = Result.of("file", [Pair(f"{file_system}: {PUSH}", 60.0, 100.0)])
        assert (result.gate, result.verdict) == (0.6, "gate")


def test_a_percentile_is_one_of_the_values() -> None:
    values = [float(value) for value in range(100, 0, -1)]
    assert (percentile(values, 0.5), percentile(values, 0.99)) == (50.0, 99.0)
    assert percentile([7.0], 0.99) == 7.0


@pytest.mark.parametrize("backend", ["memory", "sqlite", "file"])
def test_the_profile_names_every_step(backend: str, capsys: pytest.CaptureFixture[str]) -> None:
    profile(backend, jobs=500, rounds=1)
    printed = capsys.readouterr().out
    for step in ("backend.push", "poll by 500", "executor.run", "backend.settle", "whole worker"):
        assert step in printed
    assert ("COMMIT" in printed) == (backend == "sqlite")


@pytest.mark.parametrize("name", CHOICES)
def test_a_choice_is_shown_beside_its_alternatives(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    choose([name], share=0.005)
    said, _, *rows = capsys.readouterr().out.strip().splitlines()
    assert said == name
    assert len(rows) > 1


def test_a_whole_worker_books_its_calls() -> None:
    book = Calls.of_a_drain(BACKENDS["memory"][0].rivals.ours, JOBS)
    assert book.micros > 0
    assert any("settle" in line for line in book.lines())


def test_the_page_has_a_place_for_every_table() -> None:
    text = PAGE.read_text()
    for name in ("results", "long", *(f"peers-{store}" for store in LEAGUES)):
        filled = fill(text, name, "on a day", "| a | b |\n")
        assert f"<!-- {name} -->\non a day\n\n| a | b |\n<!-- /{name} -->" in filled
        assert fill(filled, name, "later", "| a | b |\n") == filled
        assert "later\n\n| c |" in fill(filled, name, "later", "| c |\n")
