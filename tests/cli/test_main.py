"""The tree itself: help, exit codes, errors, start-up."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.main import get_command

from ferryman.cli.main import COMMANDS, app
from ferryman.testing import wait_until

if TYPE_CHECKING:
    from ferryman import Ferry
    from tests.cli.conftest import Command, Run


def test_help_lists_every_command_in_plain_text(run: Run) -> None:
    text = run("--help").stdout
    for name, (_, line) in COMMANDS.items():
        assert name in text
        assert line in text
    assert text.isascii()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(run: Run, name: str) -> None:
    assert f"Usage: ferryman {name} " in run(name, "--help").stdout


def test_without_words_there_is_help_and_exit_code_2(run: Run) -> None:
    for words in ([], ["jobs"], ["queues"]):
        assert "Usage: ferryman" in run(*words, code=2).output


def test_the_version_is_the_packages_own(run: Run) -> None:
    assert run("--version").stdout == f"ferryman {version('ferryman')}\n"


def test_an_unknown_command_suggests_the_closest(run: Run) -> None:
    assert "Did you mean 'status'?" in run("stauts", code=2).output


def test_the_installed_script_runs() -> None:
    script = Path(sys.executable).parent / "ferryman"
    ran = subprocess.run([script, "--version"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, f"ferryman {version('ferryman')}\n")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["status"], 0),
        (["status", "--nope"], 2),
        (["jobs", "list", "state:nope"], 2),
        (["jobs", "show", "nope"], 3),
        (["queues", "resume", "nope"], 3),
        (["jobs", "delete", "nope"], 4),
        (["status", "--url", "mysql://h/d"], 5),
        (["status", "--url", "memory://"], 5),
        (["push", "send", "--url", "sqlite:////no/such/folder/jobs.db"], 5),
    ],
)
@pytest.mark.usefixtures("store")
def test_exit_codes_of_the_real_command(command: Command, words: list[str], code: int) -> None:
    process = command(*words)
    data, talk = process.communicate(timeout=30)
    assert process.returncode == code, talk
    assert "Traceback" not in talk
    if code:
        assert data == ""
        assert talk


def test_a_file_that_is_no_store_is_rejected_with_exit_code_5(home: Path, run: Run) -> None:
    (home / "notes.db").write_text("not a database, " * 100)
    result = run("status", "--url", "sqlite:///notes.db", code=5)
    assert "notes.db" in result.stderr


def test_a_store_that_does_not_answer_is_exit_code_5_with_what_to_do(
    store: Ferry, home: Path, run: Run
) -> None:
    other = sqlite3.connect(home / "ferryman.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        result = run("push", "send", "--url", "sqlite:///ferryman.db?busy_timeout=0", code=5)
    finally:
        other.close()
    assert "check that the store is up" in result.stderr
    assert not store.backend.snapshot().queues


def test_a_traceback_is_shown_only_on_request(command: Command, home: Path, store: Ferry) -> None:
    words = ("jobs", "list", "state:nope")
    plain = command(*words).communicate(timeout=30)[1]
    assert plain.count("\n") == 1
    process = command(*words, env={**os.environ, "FERRYMAN_DEBUG": "1"})
    assert "Traceback" in process.communicate(timeout=30)[1]
    assert process.returncode == 1


def test_ctrl_c_ends_a_waiting_command_with_130(command: Command, store: Ferry) -> None:
    process = command("push", "send", "1", "--id", "a", "--wait", "60")
    wait_until(lambda: store.backend.get("a"), timeout=30, what="the push")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130


def test_a_closed_pipe_ends_a_command_without_a_traceback(command: Command, store: Ferry) -> None:
    for number in range(300):
        store.push("mail", "x" * 500, id=f"job-{number}")
    # Unbuffered, Python itself drops what a closed pipe did not take, without a word.
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    process = command("jobs", "list", "--json", "--limit", "300", env=buffered)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    process.stdout = None
    assert "Traceback" not in process.communicate(timeout=30)[1]
    assert process.returncode == 1


def test_the_password_of_a_url_is_never_printed(run: Run) -> None:
    result = run("status", "--url", "mysql://ann:geheim@h/d", code=5)
    assert "geheim" not in result.output


def test_the_environment_names_the_store_and_the_flag_goes_before_it(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FERRYMAN_URL", "sqlite:///env.db")
    run("push", "send")
    run("push", "send", "--url", "sqlite:///flag.db")
    assert sorted(path.name for path in home.glob("*.db")) == ["env.db", "flag.db"]


def test_the_tree_can_be_walked_from_its_root() -> None:
    root = get_command(app)
    assert list(COMMANDS) == root.list_commands(None)  # type: ignore[attr-defined]
