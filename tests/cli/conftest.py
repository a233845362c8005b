"""The command line on a real SQLite file in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from typer.testing import CliRunner, Result

from ferryman import Ferry
from ferryman.cli.main import app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.terminal import Terminal

APP = '''
import threading
from pathlib import Path

from ferryman import Ferry, Job, Retry

ferry = Ferry()


@ferry.task(queue="mail")
def send(to: str, password: str) -> dict[str, str]:
    return {"to": to, "token": password}


@ferry.task(queue="bad", retry=Retry(1))
def explode(text: str) -> None:
    raise ValueError(text)


@ferry.task(queue="slow")
def hold(path: str, job: Job) -> None:
    """Runs for ever, deaf to everything."""
    Path(path).touch()
    threading.Event().wait()


not_a_ferry = 5
'''


class Run(Protocol):
    """Runs a command in this process; `code` is the exit code that it must have."""

    def __call__(self, *words: str, code: int = 0, stdin: str | None = None) -> Result: ...


class Command(Protocol):
    """Starts the real command as a process of its own."""

    def __call__(self, *words: str, **options: Any) -> subprocess.Popen[str]: ...


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: empty but for `app.py`, without Ferryman's variables."""
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("FERRYMAN_"):
            monkeypatch.delenv(name)
    (tmp_path / "app.py").write_text(APP)
    return tmp_path


@pytest.fixture
def store(home: Path) -> Iterator[Ferry]:
    """The store that commands use without `--url`."""
    with Ferry("sqlite:///ferryman.db") as ferry:
        ferry.backend.snapshot()
        yield ferry


@pytest.fixture
def run() -> Run:
    def call(*words: str, code: int = 0, stdin: str | None = None) -> Result:
        # A process of its own would import the app anew.
        sys.modules.pop("app", None)
        result = CliRunner().invoke(app, words, input=stdin, prog_name="ferryman")
        assert result.exit_code == code, f"{words}: {result.output}"
        return result

    return call


@pytest.fixture
def command() -> Iterator[Command]:
    processes: list[subprocess.Popen[str]] = []

    def start(*words: str, **options: Any) -> subprocess.Popen[str]:
        chosen = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
        process: subprocess.Popen[str] = subprocess.Popen(
            [sys.executable, "-m", "ferryman.cli.main", *words], **chosen
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def terminal() -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for one in opened:
        one.close()
