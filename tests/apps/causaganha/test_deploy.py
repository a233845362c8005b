"""What is offered for automation is well-formed, and its commands do what they are for."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner

from causaganha.app import SLOTS, CausaGanha
from causaganha.cli import app
from causaganha.settings import Settings
from causaganha.stand_ins.town import town

DEPLOY = Path(__file__).parents[3] / "apps" / "causaganha" / "deploy"
WORKFLOW = DEPLOY / "github-actions.yml"
KEYS = {
    "Unit": {"Description", "Wants", "After"},
    "Service": {
        "Type",
        "ExecStart",
        "EnvironmentFile",
        "DynamicUser",
        "StateDirectory",
        "WorkingDirectory",
        "TimeoutStartSec",
        "ProtectHome",
        "PrivateDevices",
    },
    "Timer": {"OnCalendar", "Persistent", "RandomizedDelaySec"},
    "Install": {"WantedBy"},
}


def unit(name: str) -> list[tuple[str, str, str]]:
    """The lines of a unit file: section, key, value; a key may come again."""
    section, lines = "", []
    for line in (DEPLOY / name).read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            key, _, value = line.partition("=")
            lines.append((section, key, value))
    return lines


def of_the_service() -> list[str]:
    return [value for _, key, value in unit("causaganha.service") if key == "ExecStart"]


def step_of_the_workflow() -> dict[str, Any]:
    steps = YAML(typ="safe").load(WORKFLOW)["jobs"]["gazette"]["steps"]
    [step] = [each for each in steps if "env" in each]
    return dict(step)


@pytest.mark.parametrize(
    "commands",
    [of_the_service(), step_of_the_workflow()["run"].splitlines()],
    ids=["systemd", "GitHub Actions"],
)
def test_its_commands_take_the_newest_editions_to_their_end(
    commands: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with town(tmp_path) as place:
        for command in commands:
            program, *words = shlex.split(command)
            assert Path(program).name == "causaganha"
            ran = CliRunner(env=place.settings.environment).invoke(app, words)
            assert ran.exit_code == 0, ran.output
        with CausaGanha(place.settings) as causaganha:
            assert causaganha.status() == {stage: {"completed": 2} for stage in SLOTS}


def test_the_workflow_is_one_by_the_schema_of_github_actions() -> None:
    words = ["-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    ran = subprocess.run(
        [sys.executable, *words, str(WORKFLOW)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_workflow_sets_variables_that_are_read() -> None:
    given = step_of_the_workflow()["env"]
    settings = Settings.from_environment({**given, "CAUSAGANHA_DATABASE": "postgresql://h/d"})
    assert settings.database == "postgresql://h/d"
    assert settings.gemini_key == given["GEMINI_API_KEY"]
    assert settings.ia_access_key == given["IA_ACCESS_KEY"]
    assert settings.ia_secret_key == given["IA_SECRET_KEY"]


@pytest.mark.parametrize("name", ["causaganha.service", "causaganha.timer"])
def test_the_units_of_systemd_have_known_sections_and_keys(name: str) -> None:
    for section, key, value in unit(name):
        assert key in KEYS[section], key
        assert value
