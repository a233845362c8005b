from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ferryman import Fail
from ferryman.testing import drain, wait_until
from ferryman.worker.upkeep import WORKER_CELLS
from tests.cli.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path

    from ferryman import Ferry
    from tests.cli.conftest import Command, Run


def test_a_problem_is_told_with_what_to_do_and_exit_code_1(run: Run, store: Ferry) -> None:
    store.push("mail")
    lines = run("doctor", code=1).stdout.splitlines()
    assert lines[0] == "sqlite:///ferryman.db"
    place = lines.index(next(line for line in lines if line.startswith("problem")))
    assert lines[place].split(maxsplit=2) == ["problem", "workers", "no worker runs, 1 job ready"]
    assert lines[place + 1].strip() == "start one: ferryman work module:attribute"
    assert lines[-1].startswith("1 problem, ")


def test_with_a_worker_the_same_store_is_well(command: Command, store: Ferry) -> None:
    worker = command("work", "app:ferry", "--lease", "5s")
    wait_until(lambda: store.backend.read_cells(WORKER_CELLS), timeout=30, what="the worker's row")
    process = command("doctor", "--deep", "--json")
    data, talk = process.communicate(timeout=30)
    assert process.returncode == 0, data + talk
    seen = json.loads(data)
    assert seen.keys() == {"store", "problems", "warnings", "findings"}
    assert seen["problems"] == 0
    checks = {finding["check"]: finding for finding in seen["findings"]}
    assert checks["workers"]["severity"] == "ok"
    assert checks["integrity"] == {
        "check": "integrity",
        "severity": "ok",
        "what": "every page is in order",
        "fix": "",
    }
    worker.terminate()
    worker.communicate(timeout=30)


def test_without_a_store_that_is_the_problem_and_none_is_made(run: Run, home: Path) -> None:
    result = run("doctor", code=1)
    assert "there is no store at ferryman.db yet" in result.stdout
    assert "push a job or start a worker" in result.stdout
    assert not list(home.glob("*.db"))


def test_what_cannot_be_a_url_is_exit_code_2(run: Run) -> None:
    assert "--url" in run("doctor", "--url", "jobs.db", code=2).stderr


def test_hostile_text_reaches_no_terminal(run: Run, store: Ferry) -> None:
    @store.task(queue="mail")
    def explode() -> None:
        raise Fail("\x1b[31mred\rforged \u202e")

    explode.push()
    drain(store)
    output = run("doctor").stdout
    assert "1 job failed in the last 24 h" in output
    assert output.replace("\n", "").isprintable()


def test_severities_are_coloured_only_at_a_terminal_and_not_with_no_color(
    terminal: list[Terminal], store: Ferry
) -> None:
    terminal.append(coloured := Terminal("doctor", NO_COLOR=""))
    assert coloured.ends() == 0
    assert "\x1b[32mok\x1b[0m" in coloured.text
    terminal.append(plain := Terminal("doctor", NO_COLOR="1"))
    assert plain.ends() == 0
    assert "ok " in plain.text
    assert "\x1b" not in plain.text
