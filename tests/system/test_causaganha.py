"""CausaGanha while workers are killed and every service misbehaves. The services are the witnesses.

About a minute each, which `make test` has no room for.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from chaos.causaganha.passage import BACKENDS, Terms, passage
from chaos.causaganha.verdict import judged

ROOT = Path(__file__).parents[2]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("backend", BACKENDS)
def test_kills_and_mishaps_leave_no_trace(backend: str, tmp_path: Path) -> None:
    found = judged(Terms(backend=backend, editions=20, workers=6, seed=7, rough=True), tmp_path)
    assert found.clean, [found.row(), *found.findings()]
    assert found.rough.kills >= 5


@pytest.mark.timeout(300)
@pytest.mark.parametrize("backend", BACKENDS)
def test_the_ranking_is_the_same_bytes_whatever_the_workers_the_order_and_the_kills(
    backend: str, tmp_path: Path
) -> None:
    alone = passage(Terms(backend=backend, editions=12, workers=1), tmp_path / "alone")
    shuffled = passage(
        Terms(backend=backend, editions=12, workers=3, seed=3), tmp_path / "shuffled"
    )
    killed = passage(
        Terms(backend=backend, editions=12, workers=3, seed=4, rough=True), tmp_path / "killed"
    )
    assert alone.ranking == shuffled.ranking == killed.ranking
    assert alone.ranking.count("\n") > 10
    assert killed.kills >= 5


@pytest.mark.timeout(120)
def test_a_campaign_that_is_broken_off_leaves_nothing_behind(tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    words = ["-m", "chaos.causaganha", "--editions", "4", "--results", str(results)]
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    while "kills" not in process.stdout.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    # Standard error ends when the last process that could write to it is gone.
    said, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "")
    assert "nothing was judged" in said
    assert list(tmp_path.iterdir()) == []
