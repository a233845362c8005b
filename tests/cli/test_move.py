from __future__ import annotations

import json
import re
import signal
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from ferryman.cli import progress
from ferryman.queue.open import open_backend
from ferryman.testing import wait_until
from ferryman.testing.conformance.cargo import assert_moved, populate, whole
from ferryman.testing.conformance.given import claimed, pushed, several, state_of
from tests.cli.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ferryman.queue.contract import Backend
    from tests.cli.conftest import Command, Run

SRC = "sqlite:///old.db"
DST = "sqlite:///new.db"


@pytest.fixture
def source(home: Path) -> Iterator[Backend]:
    with closing(open_backend(SRC)) as store:
        yield store


@pytest.fixture
def target(home: Path) -> Iterator[Backend]:
    with closing(open_backend(DST)) as store:
        yield store


def test_jobs_move_whole_and_the_target_is_made(run: Run, source: Backend, home: Path) -> None:
    populate(source, rounds=3)
    before = whole(source)
    assert not (home / "new.db").exists()
    shown = run("move", SRC, DST)
    assert shown.stdout == f"{len(before)} jobs moved to sqlite:///new.db\n"
    with closing(open_backend(DST)) as target:
        assert_moved(before, source, target)


def test_a_filter_chooses_and_json_tells(run: Run, source: Backend, target: Backend) -> None:
    populate(source)
    shown = run("move", SRC, DST, "--where", "state:failed queue:post", "--json")
    assert json.loads(shown.stdout) == {
        "source": SRC,
        "target": DST,
        "moved": 1,
        "existing": 0,
        "left": [],
    }
    assert [str(job.state) for job in whole(target).values()] == ["failed"]


def test_what_stays_is_told_with_its_reason_and_exit_code_4(
    run: Run, source: Backend, target: Backend
) -> None:
    running = claimed(source)
    pushed(source, "body", id="order-7")
    pushed(target, "other", id="order-7")
    shown = run("move", SRC, DST, "--wait", "0", code=4)
    assert shown.stdout == "0 jobs moved to sqlite:///new.db\n"
    assert f"{running.id} (mail): it still runs" in shown.stderr
    assert "order-7 (mail): the target has other work under this id" in shown.stderr
    assert "2 jobs stayed at sqlite:///old.db" in shown.stderr
    left = json.loads(run("move", SRC, DST, "--wait", "0", "--json", code=4).stdout)["left"]
    assert [(each["id"], each["queue"]) for each in left] == [
        (running.id, "mail"),
        ("order-7", "mail"),
    ]


def test_running_jobs_are_waited_for(run: Run, source: Backend) -> None:
    claimed(source)
    shown = run("move", SRC, DST, "--wait", "10ms", code=4)
    assert "waiting for 1 job to end\n" in shown.stderr


def test_nothing_happens_to_a_store_that_is_moved_onto_itself(run: Run, source: Backend) -> None:
    job_id = pushed(source)
    assert "same store" in run("move", SRC, "sqlite:///./old.db", code=4).stderr
    assert state_of(source, job_id) == "pending"


@pytest.mark.parametrize(
    ("words", "what", "code"),
    [
        ([SRC, DST, "--where", " "], "--where", 2),
        ([SRC, DST, "--where", "sate:failed"], "unknown field 'sate'", 2),
        ([SRC, DST, "--wait", "soon"], "--wait", 2),
        ([SRC], "DST", 2),
        (["sqlite:///none.db", DST], "none.db", 5),
        (["memory://", DST], "inside one process", 5),
        ([SRC, "memory://"], "inside one process", 5),
        ([SRC, "nope://host"], "nope://host", 5),
    ],
)
def test_what_cannot_be_moved_is_told_and_nothing_is_done(
    run: Run, source: Backend, words: list[str], what: str, code: int
) -> None:
    job_id = pushed(source)
    assert what in run("move", *words, code=code).output
    assert state_of(source, job_id) == "pending"


def test_passwords_of_stores_are_never_shown(run: Run, source: Backend) -> None:
    target = "nope://me:hunter2@host/db"
    assert "hunter2" not in run("move", SRC, target, code=5).output
    assert "hunter2" not in run("move", SRC, f"{DST}?password=hunter2", code=5).output


def test_without_a_terminal_there_is_a_line_now_and_then(
    run: Run, source: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "EVERY", 200)
    several(source, 500)
    assert run("move", SRC, DST).stderr == "moved: 200\nmoved: 400\n"


def test_at_a_terminal_there_is_a_bar(terminal: list[Terminal], source: Backend) -> None:
    several(source, 500)
    terminal.append(at := Terminal("move", SRC, DST, NO_COLOR="1"))
    assert at.ends() == 0
    assert "500/500" in at.text
    assert "500 jobs moved" in at.text
    assert not re.search(r"\x1b\[[\d;]*m", at.text.replace("\x1b[0m", "")), "NO_COLOR"


def test_ctrl_c_gives_the_queues_back_and_the_same_command_goes_on(
    run: Run, command: Command, source: Backend, home: Path
) -> None:
    job = claimed(source)
    late = pushed(source)
    process = command("move", SRC, DST, "--wait", "1h")
    wait_until(lambda: source.snapshot().queues["mail"].paused, what="the pause of the queue")
    process.send_signal(signal.SIGINT)
    assert "goes on from here" in process.communicate()[1]
    assert process.returncode == 130
    assert not source.snapshot().queues["mail"].paused
    assert "1 job moved" in run("move", SRC, DST, "--wait", "0", code=4).stdout
    assert (source.get(late), state_of(source, job.id)) == (None, "processing")


def test_a_killed_move_is_ended_by_the_same_command(
    run: Run, command: Command, source: Backend, target: Backend
) -> None:
    populate(source, rounds=30)
    before = whole(source)
    process = command("move", SRC, DST)
    wait_until(lambda: target.snapshot().queues, what="the first page")
    process.kill()
    process.communicate()
    assert whole(source).keys() | whole(target).keys() == before.keys()
    run("move", SRC, DST)
    assert_moved(before, source, target)
