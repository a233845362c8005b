"""The web benchmark asks what the dashboard asks, and runs from end to end over a small crowd."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest
from bench.contest import hold
from bench.gates import READS_HELD, READS_P99
from bench.programme import programme
from bench.progress import Lines
from bench.web import web
from bench.web_pages import pages, run_pages
from bench.workloads import Sizes

if TYPE_CHECKING:
    from pathlib import Path

JOBS = 50
ASKED = re.compile(r"useData\((?:\"|`)([a-z/]+)[^\n]*?\{ ?every: ([\d.]+)")
# A run with too many jobs for its list is asked for by itself.
ELSEWHERE = {("runs", 60.0)}


def test_every_page_asks_as_often_as_its_script_says() -> None:
    scripts = files("ferryman.web") / "static"
    texts = [
        entry.read_text()
        for folder in ("pages", "parts")
        for entry in (scripts / folder).iterdir()
        if entry.name.endswith(".js")
    ]
    said = {
        (path.rstrip("/"), float(every)) for text in texts for path, every in ASKED.findall(text)
    }
    shown = [*pages("mail", "1").values(), *run_pages("gazette", "1").values()]
    asks = [ask for page in shown for ask in page]
    known = {(re.sub(r"/(mail|1)(/jobs)?$", "", ask.path), ask.every) for ask in asks if ask.live}
    assert said - known <= ELSEWHERE
    assert known <= said


@pytest.mark.thorough
@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_it_runs_over_a_small_crowd(
    backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    [event] = [one for one in programme([backend], long=True) if one.workload is web]
    results = hold([event], Sizes.all(JOBS), runs=1, watcher=Lines())
    figures = {result.workload: result.ours for result in results}
    assert {READS_P99, READS_HELD} <= figures.keys()
    assert len([name for name in figures if name.startswith("page ")]) == len(pages("", ""))
    assert list(tmp_path.iterdir()) == []
