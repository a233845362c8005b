"""Every command of the application's README runs, and its links lead somewhere."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from causaganha.cli import app
from causaganha.demo import run, where_to_look
from causaganha.stand_ins.town import town
from ferryman.testing import wait_until

README = Path(__file__).parents[3] / "apps" / "causaganha" / "README.md"


def commands() -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line]


@pytest.mark.parametrize("command", [each for each in commands() if each != "causaganha work"])
def test_a_command_runs(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program, *words = command.split()
    assert program == "causaganha"
    with town(tmp_path, editions=2) as place:
        ran = CliRunner(env=place.settings.environment).invoke(app, words)
    assert ran.exit_code == 0, ran.output


def test_work_goes_on_until_it_is_told_to_stop(tmp_path: Path) -> None:
    assert "causaganha work" in commands()
    with town(tmp_path, editions=1) as place:
        environment = {**os.environ, **place.settings.environment}
        words = [sys.executable, "-m", "causaganha"]
        subprocess.run([*words, "queue", "discover", "--year", "2025"], env=environment, check=True)
        worker = subprocess.Popen([*words, "work"], env=environment, stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: place.gemini.moments, timeout=40, what="Gemini to be asked")
        finally:
            worker.send_signal(signal.SIGTERM)
        assert worker.wait(30) == 0


def test_the_demo_ends_well_and_says_where_to_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    report = run(Console(quiet=True), tmp_path, editions=4)
    assert report.well
    assert report.mishaps >= 12
    assert report.standings
    assert "4 of 4 editions rated" in report.summary
    told = where_to_look(report.database)
    assert f"/ferryman serve --url {report.database}" in told
    assert all(key in told for key in ("GEMINI_API_KEY", "IA_ACCESS_KEY", "IA_SECRET_KEY"))
    for line in told.splitlines():
        if "status --url" in line or "ranking" in line:
            ran = subprocess.run(
                ["/bin/sh", "-c", line], capture_output=True, text=True, check=False
            )
            assert ran.returncode == 0, ran.stderr


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README.read_text()):
        assert (README.parent / target).exists(), target
