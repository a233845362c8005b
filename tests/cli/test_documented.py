"""docs/cli.md mentions every command, option, variable and exit code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.main import get_command

from ferryman.cli.failures import ExitCode
from ferryman.cli.main import app
from ferryman.service.config import Config

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()


def tree(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    yield path, command
    if hasattr(command, "list_commands"):
        for name in command.list_commands(None):
            yield from tree(command.get_command(None, name), f"{path} {name}")


COMMANDS = dict(tree(get_command(app), "ferryman"))


@pytest.mark.parametrize("path", COMMANDS)
def test_a_command_and_its_options_are_documented(path: str) -> None:
    assert path in PAGE
    for parameter in COMMANDS[path].params:
        for option in parameter.opts:
            if option.startswith("-"):
                assert f"`{option}" in PAGE, f"{path} {option}"


@pytest.mark.parametrize("path", COMMANDS)
def test_a_command_and_its_options_have_help(path: str) -> None:
    assert COMMANDS[path].help
    for parameter in COMMANDS[path].params:
        assert parameter.help, f"{path} {parameter.name}"


# The demo has a store of its own, the others are about two and take both as arguments.
WITHOUT_URL = {f"ferryman {name}" for name in ("demo", "move", "export", "import")}


def test_every_command_on_a_store_takes_its_url() -> None:
    for path, command in COMMANDS.items():
        if not hasattr(command, "list_commands") and path not in WITHOUT_URL:
            assert "--url" in [option for p in command.params for option in p.opts], path


def test_every_setting_has_its_variable_documented() -> None:
    for name in Config.__slots__:
        assert f"`FERRYMAN_{name.upper()}`" in PAGE


def test_every_exit_code_is_documented() -> None:
    for code in ExitCode:
        assert f"\n| {code.value} |" in PAGE
