"""How quickly the command answers, and what it must not import for that."""

from __future__ import annotations

import ast
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import ferryman
from ferryman.cli.main import COMMANDS

SCRIPT = Path(sys.executable).parent / "ferryman"


def seconds(*words: str) -> float:
    """Processor time of one run: on an idle machine the same as the time one waits."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([SCRIPT, *words], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def complete(*words: str, shell: str = "bash") -> list[str]:
    """What a shell is offered after these words, the last one unfinished."""
    environ = {
        **os.environ,
        "_FERRYMAN_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": " ".join(["ferryman", *words]),
        "COMP_CWORD": str(len(words)),
    }
    ran = subprocess.run([SCRIPT], env=environ, capture_output=True, text=True, check=True)
    return ran.stdout.split()


def test_help_is_there_at_once() -> None:
    assert min(seconds("--help") for _ in range(7)) < 0.25


def imported(*heavy: str, **environ: str) -> list[str]:
    """Modules whose name begins so that `ferryman --help` has imported."""
    code = (
        "import sys\n"
        "from ferryman.cli.main import app\n"
        "try: app(['--help'], prog_name='ferryman')\n"
        "except SystemExit: pass\n"
        f"print(*sorted(m for m in sys.modules if m.startswith({heavy})), file=sys.stderr)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "status" in ran.stdout
    return ran.stderr.split()


def test_help_imports_no_command_and_nothing_heavy() -> None:
    heavy = ("rich", "pydantic", "asyncio", "sqlite3", "ferryman.")
    assert imported(*heavy) == ["ferryman.cli", "ferryman.cli.main"]


def test_completion_of_a_name_imports_no_command() -> None:
    tab = {"_FERRYMAN_COMPLETE": "complete_bash", "COMP_WORDS": "ferryman ", "COMP_CWORD": "1"}
    assert imported("ferryman.", **tab) == ["ferryman.cli", "ferryman.cli.main"]


def test_public_names_are_found_at_their_first_use_and_others_are_not() -> None:
    code = (
        "import sys, ferryman\n"
        "assert 'ferryman.errors' not in sys.modules\n"
        "from ferryman import Conflict, Ferry\n"
        "assert ferryman.Ferry is Ferry and 'Ferry' in vars(ferryman)\n"
        "assert 'Worker' in dir(ferryman) and not hasattr(ferryman, 'Nope')\n"
        "from ferryman import *\n"
        "assert Worker and current_job\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_type_checkers_see_every_public_name_in_its_own_module() -> None:
    tree = ast.parse(Path(ferryman.__file__).read_text())
    homes = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ferryman.")
        for alias in node.names
    }
    assert sorted(homes) == ferryman.__all__
    for name, home in homes.items():
        assert getattr(ferryman, name).__module__ == home, name


# -- completion


def test_the_shell_is_offered_commands_and_their_options() -> None:
    assert complete("") == list(COMMANDS)
    assert complete("j") == ["jobs"]
    assert complete("jobs", "re") == ["retry", "resume"]
    assert {"--every", "--once", "--count"} <= set(complete("top", "--"))
    assert complete("prune", "--state", "f") == ["failed"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_the_shell_is_shown(shell: str) -> None:
    environ = {**os.environ, "_FERRYMAN_COMPLETE": f"source_{shell}"}
    ran = subprocess.run([SCRIPT], env=environ, capture_output=True, text=True, check=True)
    assert f"complete_{shell}" in ran.stdout


def test_completion_is_installed_for_the_shell_that_asks(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(home))
    # The last word is the shell's own: it would make way for a last command, and not be seen.
    words = f"set -e; {SCRIPT} --install-completion; {SCRIPT} --show-completion; exit"
    ran = subprocess.run(["/bin/bash", "-c", words], capture_output=True, text=True, check=True)
    assert "bash completion installed" in ran.stdout
    assert "_FERRYMAN_COMPLETE=complete_bash" in ran.stdout
    (script,) = (home / ".bash_completions").iterdir()
    assert "complete_bash" in script.read_text()
