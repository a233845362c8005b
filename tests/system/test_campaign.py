"""Real campaigns, small ones: a sound build comes out clean, a broken one does not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ferryman.testing import wait_until

ROOT = Path(__file__).parents[2]

TRIES = 4
COLUMNS = {"lost", "finished_twice", "over_attempts", "early", "unfinished"}


def start(folder: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "chaos", *options, "--results", "results.json"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def campaign(folder: Path, *options: str) -> tuple[int, str, str]:
    with start(folder, *options) as process:
        said, errors = process.communicate()
        return process.returncode, said, errors


def result(folder: Path) -> dict[str, Any]:
    (row,) = json.loads((folder / "results.json").read_text())
    return dict(row)


def caught(folder: Path, column: str, *options: str) -> bool:
    """Whether a broken build breaks this promise in one of a few campaigns.

    The plan is the same each time, what it meets is not: a short one may pass by the fault.
    """
    for number in range(TRIES):
        one = folder / str(number)
        one.mkdir()
        code, said, errors = campaign(one, *options)
        assert code in (0, 1), said + errors
        if code == 1 and result(one)[column] > 0:
            return True
    return False


def test_a_sound_build_breaks_no_promise_under_kills_and_freezes(tmp_path: Path) -> None:
    code, said, errors = campaign(tmp_path, "--kills", "30", "--seed", "1")
    assert code == 0, said + errors
    row = result(tmp_path)
    assert {row[column] for column in COLUMNS} == {0}
    assert (row["backend"], row["kills"], row["seed"]) == ("sqlite", 30, 1)
    assert row["pushed"] > 100
    assert "--kills 30 --seed 1" in said
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]


def test_acks_without_a_fence_are_caught(tmp_path: Path) -> None:
    options = ("--kills", "60", "--seed", "12", "--broken", "fence")
    assert caught(tmp_path, "finished_twice", *options)


def test_children_pushed_after_the_settle_are_caught(tmp_path: Path) -> None:
    options = ("--kills", "40", "--seed", "9", "--broken", "handoff")
    assert caught(tmp_path, "lost", *options)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_campaign_that_is_broken_off_leaves_nothing_behind(
    number: signal.Signals, tmp_path: Path
) -> None:
    with start(tmp_path, "--kills", "1000") as process:
        journals = wait_until(lambda: list(tmp_path.glob("*/worker-*.journal")), timeout=20)
        process.send_signal(number)
        said, errors = process.communicate()
    assert journals
    assert (process.returncode, errors) == (130, "")
    assert "nothing was judged" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--backend", "memory"), "a kill proves nothing"),
        (("--backend", "carrier-pigeon"), "use sqlite"),
        (("--kills", "0"), "--kills"),
    ],
)
def test_what_cannot_be_run_is_refused_with_the_reason(
    options: tuple[str, ...], reason: str, tmp_path: Path
) -> None:
    code, said, errors = campaign(tmp_path, *options)
    assert (code, said) == (2, "")
    assert reason in errors
