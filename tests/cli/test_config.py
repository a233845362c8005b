from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ferryman.service.config import Config

if TYPE_CHECKING:
    import pytest

    from tests.cli.conftest import Command, Run


def test_every_setting_is_shown_with_its_value(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERRYMAN_QUEUES", "mail:2,*")
    monkeypatch.setenv("FERRYMAN_LEASE", "90")
    lines = [line.split() for line in run("config", "show").stdout.splitlines()]
    assert lines[0] == ["SETTING", "VALUE"]
    assert [line[0] for line in lines[1:]] == list(Config.__slots__)
    assert ["url", "sqlite:///ferryman.db"] in lines
    assert ["queues", "mail:2,*"] in lines
    assert ["lease", "90s"] in lines
    assert ["concurrency", "1"] in lines


def test_the_origin_is_a_flag_a_variable_or_the_default(command: Command) -> None:
    words = ("config", "show", "--origin", "--url", "postgresql://ann:geheim@h/d")
    process = command(*words, env={"FERRYMAN_DRAIN": "5s", "FERRYMAN_QUEUE": "mail"})
    data, talk = process.communicate(timeout=30)
    assert process.returncode == 0, talk
    lines = [line.split() for line in data.splitlines()]
    assert ["url", "postgresql://ann:***@h/d", "--url", "FERRYMAN_URL"] in lines
    assert ["drain", "5s", "FERRYMAN_DRAIN", "FERRYMAN_DRAIN"] in lines
    assert ["log_level", "info", "default", "FERRYMAN_LOG_LEVEL"] in lines
    assert ["queues", "the", "app's", "default", "FERRYMAN_QUEUES"] in lines
    assert talk == "FERRYMAN_QUEUE is no setting: did you mean FERRYMAN_QUEUES?\n"


def test_json_has_name_value_origin_and_variable(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERRYMAN_QUEUES", "mail:2,crawl")
    shown = json.loads(run("config", "show", "--json").stdout)["settings"]
    assert shown[0] == {
        "name": "url",
        "value": "sqlite:///ferryman.db",
        "origin": "default",
        "variable": "FERRYMAN_URL",
    }
    assert shown[1]["value"] == {"mail": 2, "crawl": None}


def test_a_variable_that_cannot_be_read_is_exit_code_2(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FERRYMAN_LEASE", "soon")
    assert "FERRYMAN_LEASE: 'soon' is no duration" in run("config", "show", code=2).stderr
