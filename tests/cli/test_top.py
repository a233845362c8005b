from __future__ import annotations

import json
import re
import signal
from typing import TYPE_CHECKING, Any

import pytest

from ferryman import Fail, State
from ferryman.testing import drain
from ferryman.worker.upkeep import WORKER_CELLS
from tests.cli.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path

    from ferryman import Ferry
    from tests.cli.conftest import Command, Run

LEAVES_SCREEN = "\x1b[?1049l"
COLOUR = re.compile(r"\x1b\[[\d;]*[1-9][\d;]*m")


@pytest.fixture
def busy(store: Ferry) -> Ferry:
    """Something to see: queues, a worker and a failure."""

    @store.task(queue="bad")
    def explode() -> None:
        raise Fail("no answer from http://ann:geheim@h\nsecond line")

    explode.using(id="broken").push()
    drain(store)
    store.push("mail")
    store.push("mail", delay=60)
    store.backend.pause_queue("crawl")
    row = {
        "host": "far",
        "pid": 7,
        "queues": {"mail": 3},
        "running": 2,
        "heartbeat_at": store.backend.clock.now(),
        "lease": 60.0,
    }
    store.backend.write_cell(f"{WORKER_CELLS}w1", json.dumps(row), expect=None, ttl=600)
    return store


def next_look(process: Any) -> dict[str, Any]:
    look: dict[str, Any] = json.loads(process.stdout.readline())
    return look


# -- one picture


def test_one_picture_shows_queues_workers_and_failures(run: Run, busy: Ferry) -> None:
    output = run("top", "--once").stdout
    lines = [line.split() for line in output.splitlines()]
    assert lines[0][0] == "sqlite:///ferryman.db"
    assert ["mail", "1", "1", "0", "0", "0", "0", "-"] in lines
    assert ["crawl", "paused", "0", "0", "0", "0", "0", "0", "-"] in lines
    assert ["far", "7", "2", "3", "?", "mail:3"] in [line[:5] + line[6:] for line in lines]
    assert lines[-1][0] == "broken"
    assert lines[-1][2:] == ["explode", "no", "answer", "from", "http://ann:***@h"]


def test_an_empty_store_has_nothing_to_show(run: Run, store: Ferry) -> None:
    lines = run("top", "--once").stdout.splitlines()
    assert lines[2::2] == ["no jobs", "no workers", "no failures"]


def test_without_a_store_it_says_so_and_makes_none(run: Run, home: Path) -> None:
    for words in ([], ["--once"], ["--json"]):
        assert "there is no store" in run("top", *words, code=5).stderr
    assert not list(home.glob("*.db"))


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--every", "0"], "--every"),
        (["--every", "10ms"], "--every"),
        (["--every", "often"], "--every"),
        (["--count", "0"], "--count"),
    ],
)
def test_settings_that_cannot_be_meant_are_exit_code_2(
    run: Run, store: Ferry, words: list[str], what: str
) -> None:
    assert what in run("top", *words, code=2).output


# -- without a terminal


def test_without_a_terminal_each_look_is_a_line(run: Run, busy: Ferry) -> None:
    first, second = run("top", "--every", "100ms", "--count", "2").stdout.splitlines()
    for line in (first, second):
        assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ready=1 scheduled=1 ", line)
        assert "failed=1" in line
        assert "workers=1 running=2" in line
    assert "rate=-" in first
    assert "rate=0.0" in second


def test_json_is_one_object_a_line(run: Run, busy: Ferry) -> None:
    lines = run("top", "--json", "--every", "100ms", "--count", "2").stdout.splitlines()
    first, second = (json.loads(line) for line in lines)
    assert (first["rate"], second["rate"]) == (None, 0.0)
    assert {queue["queue"]: queue["rate"] for queue in second["queues"]}["mail"] == 0.0
    assert [failure["id"] for failure in second["failures"]] == ["broken"]
    assert "geheim" not in lines[0]
    assert second["outage"] is None
    assert len(run("top", "--json", "--once").stdout.splitlines()) == 1


def test_completions_of_a_real_worker_make_a_rate(command: Command, store: Ferry) -> None:
    watcher = command("top", "--json", "--every", "100ms")
    assert next_look(watcher)["rate"] is None
    worker = command("work", "app:ferry", "--poll-every", "50ms", "--lease", "5s")
    for _ in range(20):
        store.push("send", {"to": "a", "password": "b"}, queue="mail")
    while not (look := next_look(watcher))["states"]["completed"]:
        pass
    assert look["rate"] > 0
    worker.terminate()
    worker.communicate(timeout=30)
    watcher.send_signal(signal.SIGINT)
    _, talk = watcher.communicate(timeout=30)
    assert (watcher.returncode, talk) == (0, "")


def test_an_outage_is_shown_and_survived(command: Command, store: Ferry, home: Path) -> None:
    store.push("mail")
    watcher = command("top", "--json", "--every", "100ms")
    assert next_look(watcher)["outage"] is None
    (home / "ferryman.db").rename(home / "moved.db")
    while (look := next_look(watcher))["outage"] is None:
        pass
    assert "ferryman.db" in look["outage"]
    assert look["states"][State.PENDING] == 1, "what was seen last is still shown"
    (home / "moved.db").rename(home / "ferryman.db")
    while next_look(watcher)["outage"] is not None:
        pass
    watcher.send_signal(signal.SIGINT)
    watcher.communicate(timeout=30)
    assert watcher.returncode == 0


def test_a_closed_pipe_ends_it_without_a_traceback(command: Command, store: Ferry) -> None:
    watcher = command("top", "--every", "100ms")
    assert watcher.stdout is not None
    watcher.stdout.readline()
    watcher.stdout.close()
    watcher.stdout = None
    assert "Traceback" not in watcher.communicate(timeout=30)[1]


# -- at a terminal


@pytest.mark.parametrize("how", ["q", "sigint", "sigterm"])
def test_at_a_terminal_it_draws_until_it_is_told_to_stop(
    terminal: list[Terminal], busy: Ferry, how: str
) -> None:
    terminal.append(at := Terminal("top", "--every", "100ms", COLUMNS="100", LINES="40"))
    at.shows("broken")
    busy.push("mail", queue="newcomer")
    at.shows("newcomer")
    before = at.settings()
    if how == "q":
        at.types("q")
    elif how == "sigint":
        at.interrupt()
    else:
        at.signal(signal.SIGTERM)
    assert at.ends() == 0
    assert LEAVES_SCREEN in at.text
    assert at.settings() != before, "keys are echoed again"
    assert "geheim" not in at.text


def test_another_key_looks_again_at_once(terminal: list[Terminal], busy: Ferry) -> None:
    terminal.append(at := Terminal("top", "--every", "1h"))
    at.shows("broken")
    busy.push("mail", queue="newcomer")
    at.types(" ")
    at.shows("newcomer")
    at.types("q")
    assert at.ends() == 0


def test_it_ends_after_the_given_number_of_looks(terminal: list[Terminal], busy: Ferry) -> None:
    terminal.append(at := Terminal("top", "--every", "100ms", "--count", "2"))
    assert at.ends() == 0
    assert "broken" in at.text


def test_a_low_terminal_gets_the_beginning_of_each_part(
    terminal: list[Terminal], busy: Ferry
) -> None:
    for number in range(30):
        busy.push("mail", queue=f"queue-{number:02}")
    terminal.append(at := Terminal("top", COLUMNS="100", LINES="24"))
    at.shows("broken")
    assert "more" in at.text
    assert "queue-29" not in at.text
    at.types("q")
    assert at.ends() == 0


def test_colours_follow_no_color(terminal: list[Terminal], busy: Ferry) -> None:
    terminal.append(coloured := Terminal("top", "--count", "1", "--every", "100ms", NO_COLOR=""))
    assert coloured.ends() == 0
    assert COLOUR.search(coloured.text)
    terminal.append(plain := Terminal("top", "--count", "1", "--every", "100ms", NO_COLOR="1"))
    assert plain.ends() == 0
    assert "paused" in plain.text
    assert not COLOUR.search(plain.text)


def test_a_dumb_terminal_gets_lines(terminal: list[Terminal], busy: Ferry) -> None:
    terminal.append(at := Terminal("top", "--count", "1", TERM="dumb"))
    assert at.ends() == 0
    assert "ready=1" in at.text
    assert "\x1b" not in at.text
