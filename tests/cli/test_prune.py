from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING

import pytest

from ferryman import Ferry, State
from ferryman.cli import progress
from ferryman.message import Message
from ferryman.testing import FakeClock
from tests.cli.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

DAY = 86_400


def finish(count: int, days_ago: float, prefix: str = "job") -> None:
    """Cancel so many jobs at that time."""
    clock = FakeClock(time.time() - days_ago * DAY)
    with Ferry("sqlite:///ferryman.db", clock=clock) as ferry:
        ids = [f"{prefix}-{number}" for number in range(count)]
        ferry.backend.push([Message.of("mail", "send", id=one) for one in ids])
        ferry.backend.cancel(ids)


def left(state: State = State.CANCELLED) -> int:
    with Ferry("sqlite:///ferryman.db") as ferry:
        return ferry.backend.snapshot().count(state)


def test_what_ended_long_ago_is_deleted_and_the_rest_stays(run: Run, home: Path) -> None:
    finish(3, days_ago=10, prefix="old")
    finish(2, days_ago=2, prefix="new")
    assert run("prune", "--older-than", "7d", "--yes").stdout == "3 jobs deleted\n"
    assert left() == 2
    shown = run("prune", "--older-than", "36h", "--yes", "--json").stdout
    assert json.loads(shown) == {"pruned": 2}


def test_a_dry_run_counts_and_deletes_nothing(run: Run, home: Path) -> None:
    finish(3, days_ago=10)
    assert run("prune", "--older-than", "7d", "--dry-run").stdout == "3 jobs would be deleted\n"
    shown = run("prune", "--older-than", "7d", "--keep", "1", "--dry-run", "--yes", "--json").stdout
    assert json.loads(shown) == {"prunable": 2}
    assert left() == 3


def test_states_and_the_newest_can_be_spared(run: Run, home: Path) -> None:
    finish(3, days_ago=10)
    words = ("prune", "--older-than", "7d", "--yes")
    assert "0 jobs" in run(*words, "--state", "failed", "--state", "completed").stdout
    assert "2 jobs" in run(*words, "--state", "cancelled", "--keep", "1").stdout
    assert left() == 1


def test_it_needs_yes_and_tells_what_it_would_do(run: Run, home: Path) -> None:
    finish(3, days_ago=10)
    refused = run("prune", "--older-than", "7d", code=4).stderr
    assert "would delete 3 finished jobs that ended over 7d ago" in refused
    assert "--yes" in refused
    assert left() == 3
    assert run("prune", "--older-than", "30d").stdout == "0 jobs deleted\n"


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--older-than", "23h"], "--older-than: must be at least 1d"),
        (["--older-than", "0"], "--older-than: must be at least 1d"),
        (["--older-than", "soon"], "--older-than"),
        (["--older-than", "7d", "--state", "pending"], "--state"),
        (["--older-than", "7d", "--keep", "-1"], "--keep"),
        ([], "--older-than"),
    ],
)
@pytest.mark.parametrize("how", ["--yes", "--dry-run"])
def test_what_cannot_be_meant_is_exit_code_2(
    run: Run, store: Ferry, words: list[str], what: str, how: str
) -> None:
    assert what in run("prune", *words, how, code=2).output


def test_without_a_terminal_there_is_a_line_now_and_then(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "EVERY", 1_000)
    finish(2_500, days_ago=10)
    result = run("prune", "--older-than", "7d", "--yes")
    assert result.stdout == "2,500 jobs deleted\n"
    assert result.stderr == "deleted: 1,000\ndeleted: 2,000\n"


def test_at_a_terminal_there_is_a_bar_and_the_question_before(
    terminal: list[Terminal], home: Path
) -> None:
    finish(2_500, days_ago=10)
    terminal.append(at := Terminal("prune", "--older-than", "7d", NO_COLOR="1"))
    at.shows("This will delete 2,500 finished jobs that ended over 7d ago. Go on? [y/N]")
    at.types("y\n")
    assert at.ends() == 0
    assert "2500/2500" in at.text
    assert "2,500 jobs deleted" in at.text
    assert not re.search(r"\x1b\[[\d;]*m", at.text.replace("\x1b[0m", "")), "NO_COLOR"
    assert left() == 0
