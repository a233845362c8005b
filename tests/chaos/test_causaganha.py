"""The verdict on CausaGanha's passages sees what it is there to see."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from chaos.causaganha.passage import Passage, Terms
from chaos.causaganha.rows import Rows
from chaos.causaganha.verdict import Verdict, spans

from causaganha.app import SLOTS

EDITIONS = ("one.pdf", "two.pdf")
RESULTS = Path(__file__).parents[2] / "chaos" / "causaganha" / "results.json"
README = Path(__file__).parents[2] / "apps" / "causaganha" / "README.md"


def rows(**others: Counter[str]) -> Rows:
    tables = {name: Counter(EDITIONS) for name in ("pdfs", *SLOTS)}
    return Rows(
        frozenset(EDITIONS), {**tables, **others}, Counter({("matches", "one.pdf", "x"): 1})
    )


CALM = Passage(
    rows=rows(),
    ranking="1,ANA",
    uploads={"a/one.pdf": 1, "b/two.pdf": 1},
    expected_uploads=["a/one.pdf", "b/two.pdf"],
    chunks=3,
    calls=[0.0, 1.0, 2.0],
    failed_answers=0,
    kills=0,
    stall=0.1,
    seconds=1.0,
)


def verdict(rough: Passage) -> Verdict:
    terms = Terms(backend="sqlite", editions=2, workers=6, seed=1, rough=True)
    return Verdict(terms, rough, CALM)


def test_a_passage_like_the_calm_one_is_clean() -> None:
    assert verdict(CALM).clean
    rough = replace(CALM, kills=2, failed_answers=1, calls=[float(n) for n in range(6)])
    assert verdict(rough).clean
    assert verdict(rough).row()["calls"] == 6
    assert list(verdict(rough).findings()) == []


@pytest.mark.parametrize(
    ("column", "rough"),
    [
        ("unfinished", replace(CALM, rows=replace(rows(), finished=frozenset(EDITIONS[:1])))),
        ("wrong_rows", replace(CALM, rows=rows(pdfs=Counter(one=1)))),
        ("wrong_rows", replace(CALM, rows=rows(archive=Counter([*EDITIONS, "one.pdf"])))),
        ("wrong_rows", replace(CALM, rows=rows(ratings=Counter([*EDITIONS, "one.pdf (pending)"])))),
        ("wrong_rows", replace(CALM, rows=replace(rows(), rulings=Counter()))),
        ("wrong_uploads", replace(CALM, uploads={"a/one.pdf": 2, "b/two.pdf": 1})),
        ("wrong_uploads", replace(CALM, uploads={"a/one.pdf": 1})),
        ("wrong_uploads", replace(CALM, uploads={**CALM.uploads, "c/three.pdf": 1})),
        ("calls_over", replace(CALM, kills=1, calls=[0.0, 1.0, 2.0, 3.0, 4.0])),
        ("calls_over", replace(CALM, calls=[0.0, 1.0])),
        ("over_quota", replace(CALM, kills=99, calls=[n / 4 for n in range(33)])),
        ("other_ranking", replace(CALM, ranking="1,RUI")),
    ],
)
def test_what_is_wrong_is_counted(column: str, rough: Passage) -> None:
    found = verdict(rough)
    assert not found.clean
    assert [name for name, count in found.broken.items() if count] == [column]


def test_the_seconds_of_so_many_calls_in_a_row_are_measured_wherever_they_begin() -> None:
    assert spans([0.0, 1.0], 3) == []
    assert spans([0.0, 1.0, 1.5, 4.0], 3) == [1.5, 3.0]


def test_a_machine_that_stalls_excuses_calls_that_come_late() -> None:
    late = replace(CALM, kills=99, calls=[n * 0.29 for n in range(33)])  # 31 in 8.7 seconds
    assert verdict(late).broken["over_quota"] == 3
    assert verdict(replace(late, stall=2.9)).broken["over_quota"] == 3
    assert verdict(replace(late, stall=4.5)).clean


def test_the_readme_shows_the_recorded_results() -> None:
    text = README.read_text().partition("<!-- rows -->\n")[2].partition("<!-- /rows -->")[0]
    shown = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    figures = ("editions", "kills", "chunks", "failed_answers", "calls", "tightest", "stall")
    wrong = list(verdict(CALM).broken)
    recorded = json.loads(RESULTS.read_text())
    assert shown[2:] == [
        [row["backend"], *(str(row[name]) for name in figures), str(sum(row[n] for n in wrong))]
        for row in recorded
    ]
    assert {row["editions"] for row in recorded} == {200}
