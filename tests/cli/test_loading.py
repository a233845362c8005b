from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from ferryman.cli.failures import CommandFailed, ExitCode
from ferryman.cli.loading import load_ferry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _own_imports() -> Iterator[None]:
    """Modules of one test's folder do not stay for the next one's."""
    path, modules = sys.path[:], set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def failure(target: str) -> tuple[str, str, ExitCode]:
    with pytest.raises(CommandFailed) as caught:
        load_ferry(target)
    return str(caught.value), caught.value.todo, caught.value.code


def test_a_ferry_is_found_in_a_module_of_the_current_directory(home: Path) -> None:
    assert len(load_ferry("app:ferry").tasks) == 3


def test_a_ferry_is_found_in_a_package_and_behind_a_dotted_attribute(home: Path) -> None:
    (home / "shop").mkdir()
    (home / "shop" / "__init__.py").touch()
    (home / "shop" / "queues.py").write_text(
        "from ferryman import Ferry\nclass Config:\n    ferry = Ferry('sqlite:///shop.db')\n"
    )
    assert load_ferry("shop.queues:Config.ferry").url == "sqlite:///shop.db"


@pytest.mark.parametrize(
    ("target", "todo"),
    [
        ("app", "such as app:ferry"),
        ("app.py", "such as app:ferry"),
        ("app.py:main", "such as app:main"),
        ("shop/app.py", "such as shop.app:ferry"),
        (":ferry", "such as app:ferry"),
        ("app:", "such as app:ferry"),
    ],
)
def test_what_does_not_name_a_ferry_is_answered_with_what_would(target: str, todo: str) -> None:
    what, hint, code = failure(target)
    assert what == f"{target!r} does not name a Ferry"
    assert hint.endswith(todo)
    assert code is ExitCode.USAGE


def test_a_missing_module_is_named_with_the_folder_and_the_closest_one(home: Path) -> None:
    what, todo, code = failure("apq:ferry")
    assert "no module 'apq'" in what
    assert str(home) in what
    assert todo == "did you mean 'app'?"
    assert code is ExitCode.USAGE
    assert "install its package" in failure("zzz.deep:ferry")[1]


def test_a_missing_attribute_suggests_a_ferry_of_the_module() -> None:
    what, todo, code = failure("app:fery")
    assert what == "module 'app' has no attribute 'fery'"
    assert todo == "did you mean app:ferry?"
    assert code is ExitCode.USAGE


def test_something_else_than_a_ferry_is_called_what_it_is(home: Path) -> None:
    assert failure("app:not_a_ferry")[:2] == (
        "app:not_a_ferry is a int, not a Ferry",
        "did you mean app:ferry?",
    )
    (home / "bare.py").write_text("x = 1\n")
    assert "holds no Ferry" in failure("bare:x")[1]


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("\nimport no_such_package\n", "ModuleNotFoundError: No module named 'no_such_package'"),
        ("\nraise ValueError('bad settings')\n", "ValueError: bad settings"),
        ("\nimport sys\nsys.exit(3)\n", "SystemExit: 3"),
        ("\ndef broken(:\n", "SyntaxError"),
    ],
)
def test_a_module_that_fails_to_import_is_not_called_missing(
    home: Path, source: str, error: str
) -> None:
    (home / "faulty.py").write_text(source)
    what, todo, code = failure("faulty:ferry")
    assert what.startswith("importing 'faulty' failed")
    assert error in what
    assert "FERRYMAN_DEBUG=1" in todo
    assert code is ExitCode.FAILURE
    if "SyntaxError" not in error:
        assert "faulty.py:" in what


def test_the_real_command_explains_an_unknown_app_in_two_lines() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "ferryman.cli.main", "work", "apq:ferry"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert len(ran.stderr.splitlines()) == 2
