"""Every code block and command in the docs is run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from scripts import contract

from ferryman.queue.open import BACKENDS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```([\w. ]+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    return [code for kind, code in BLOCK.findall(page.read_text()) if kind == language]


def with_blocks(language: str) -> list[Path]:
    return [page for page in PAGES if blocks(page, language)]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def environment(folder: Path) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "HOME": str(folder), "FERRYMAN_URL": "sqlite:///jobs.db"}


@pytest.mark.parametrize("page", with_blocks("python"), ids=name)
def test_the_python_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    (tmp_path / "page.py").write_text("\n\n".join(blocks(page, "python")))
    ran = subprocess.run(
        [sys.executable, "-W", "error", "page.py"],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("page", with_blocks("bash"), ids=name)
def test_the_sessions_of_a_page_run(page: Path, tmp_path: Path) -> None:
    for app in blocks(page, "python app.py"):
        (tmp_path / "app.py").write_text(app)
    session = "\n".join(["set -eu", "trap 'kill $(jobs -p)' ERR", *blocks(page, "bash"), "wait"])
    ran = subprocess.run(
        ["/usr/bin/env", "bash", "-c", session],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


def commands() -> list[tuple[str, str]]:
    return [
        (name(page), command)
        for page in with_blocks("sh")
        for block in blocks(page, "sh")
        for line in block.splitlines()
        if (command := line.partition("#")[0].strip())
    ]


@pytest.mark.parametrize(("page", "command"), commands())
def test_a_command_of_the_docs_runs(page: str, command: str, tmp_path: Path) -> None:
    if command.startswith("make "):
        target = command.split()[1]
        assert f"\n{target}: " in (ROOT / "Makefile").read_text(), f"{page}: no target {target}"
        return
    app = blocks(ROOT / "README.md", "python")[0]
    (tmp_path / "app.py").write_text(f"{app}\nferry.push('welcome', 'Bob')\n")
    subprocess.run([sys.executable, "app.py"], cwd=tmp_path, env=environment(tmp_path), check=True)
    process = subprocess.Popen(
        command.split(), cwd=tmp_path, env=environment(tmp_path), stderr=subprocess.PIPE, text=True
    )
    try:
        process.wait(3 if command.startswith("ferryman work") else 30)
    except subprocess.TimeoutExpired:
        process.terminate()
    _, talk = process.communicate(timeout=30)
    assert process.returncode == 0, f"{page}: {command}: {talk}"


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{name(page)}: {target}"


def test_the_table_of_the_contract_is_of_this_suite_and_these_backends() -> None:
    shown = {row[0]: row[1:] for row in contract_table()}
    collected = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "--collect-only",
            "tests/conformance/test_memory.py",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    cases = collected.stdout.count("::test_")
    skipped = [row for name, row in shown.items() if name.startswith("cases skipped")]
    for column, backend in enumerate(shown[""]):
        counted = int(shown["cases passed"][column]) + sum(int(row[column]) for row in skipped)
        assert counted == cases, f"{backend}: run python scripts/contract.py"
    assert {*BACKENDS} <= {*shown[""]}, "run python scripts/contract.py"


def contract_table() -> list[list[str]]:
    text = contract.PAGE.read_text().partition(contract.START)[2].partition(contract.END)[0]
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in text.splitlines()]


def test_the_docs_name_every_event_that_the_code_emits() -> None:
    said = (ROOT / "docs" / "tasks.md").read_text()
    emitted = set()
    for source in (ROOT / "src").rglob("*.py"):
        emitted |= set(re.findall(r'emit\(\s*"([a-z]+\.[a-z_]+)"', source.read_text()))
    for event in emitted:
        assert event.partition(".")[2] in said, event
