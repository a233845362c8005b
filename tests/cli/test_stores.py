"""Which store a command is about: an argument says the same as `--url`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ferryman import Ferry

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

ONE_LOOK = {"top": ["--once"], "migrate": ["--json"], "report": []}


@pytest.mark.parametrize("name", ["doctor", "status", "top", "report", "migrate"])
def test_the_store_is_an_argument_or_a_flag(run: Run, home: Path, name: str) -> None:
    url = f"sqlite:///{home}/other.db"
    with Ferry(url) as ferry:
        ferry.push("mail", id="a")
    more = ONE_LOOK.get(name, [])
    code = 1 if name == "doctor" else 0  # a job is ready and nobody works
    for words in ([url], ["--url", url], [url, "--url", url]):
        assert url in run(name, *words, *more, code=code).stdout
    assert sorted(path.name for path in home.glob("*.db")) == ["other.db"]


@pytest.mark.parametrize("name", ["doctor", "status", "top", "report", "migrate", "serve", "sync"])
def test_two_stores_for_one_command_are_refused(run: Run, home: Path, name: str) -> None:
    refused = run(name, "sqlite:///one.db", "--url", "sqlite:///two.db", code=2)
    assert "names another store than the argument" in refused.stderr
    assert not list(home.glob("*.db"))


def test_an_argument_goes_before_the_environment(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FERRYMAN_URL", "sqlite:///environment.db")
    shown = run("migrate", "sqlite:///argument.db", "--json").stdout
    assert json.loads(shown)["store"] == "sqlite:///argument.db"


def test_an_empty_argument_is_no_store(run: Run, home: Path) -> None:
    assert "this is no URL" in run("migrate", "", code=2).stderr
    assert not list(home.glob("*.db"))


def test_a_folder_is_examined_by_its_url(run: Run, home: Path) -> None:
    url = f"file://{home}/queues"
    run("push", "mail", "--url", url)
    found = json.loads(run("doctor", url, "--json", code=1).stdout)
    assert found["store"] == url
