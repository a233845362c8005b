"""Pipelines in real processes: two workers that die on the way, and handlers in children."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ferryman import Ferry, Settings, collect
from ferryman.testing import wait_until
from tests.pipeline import app

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
SETTINGS = {"lease": 1.0, "reap_every": 0.2, "drain": 5.0}


class Crew:
    """Two workers; one that died is replaced whenever somebody looks."""

    def __init__(self, url: str) -> None:
        self._command = [sys.executable, "-m", "tests.pipeline.app", url, json.dumps(SETTINGS)]
        self._workers = [self._start(), self._start()]
        self.deaths = 0

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self._command, cwd=ROOT)

    def look(self) -> None:
        dead = [each for each in self._workers if each.poll() is not None]
        self.deaths += len(dead)
        for each in dead:
            self._workers.remove(each)
            self._workers.append(self._start())

    def stop(self) -> None:
        for each in self._workers:
            each.terminate()
        for each in self._workers:
            each.wait()


@pytest.fixture
def crew(url: str) -> Iterator[Crew]:
    crew = Crew(url)
    yield crew
    crew.stop()


@pytest.mark.timeout(180)
@pytest.mark.parametrize("url", ["sqlite", "file", "postgresql"], indirect=True)
def test_two_processes_that_die_hand_over_each_child_once(url: str, crew: Crew) -> None:
    with Ferry(url) as ferry:
        for task in (app.numbers, app.double, app.total):
            ferry.tasks.add(task)
        run = ferry.pipeline("sums", "numbers" >> app.double >> collect(app.total)).push(50)

        def over() -> bool:
            crew.look()
            return run.state() != "running"

        wait_until(over, 150, "the run")
        assert run.state() == "completed"
        assert run.results("total") == [2 * sum(range(50))]
        assert len(run.results("double")) == 50
    assert crew.deaths >= 2


@pytest.mark.timeout(120)
def test_handlers_in_child_processes_hand_over_yield_and_collect() -> None:
    worker = app.ferry.worker({"apart": 2}, Settings(lease=30))
    worker.start()
    try:
        run = app.words.push(45)
        assert run.wait(90) == "completed"
    finally:
        worker.join()
    assert run.results("spell") == [45]
    assert sorted(run.results("length")) == [1] * 10 + [2] * 35
    assert run.results() == [2]
