from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ferryman import Ferry
from ferryman.testing import wait_until
from ferryman.worker.upkeep import WORKER_CELLS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


def test_without_a_store_it_says_so_and_makes_none(run: Run, home: Path) -> None:
    result = run("status", code=5)
    assert "there is no store at ferryman.db yet" in result.stderr
    assert "push a job or start a worker" in result.stderr
    assert not list(home.glob("*.db"))


def test_an_empty_folder_is_no_store_and_stays_empty(run: Run, home: Path) -> None:
    (home / "empty").mkdir()
    result = run("status", (home / "empty").as_uri(), code=5)
    assert f"there is no store at {home / 'empty'} yet" in result.stderr
    assert list((home / "empty").iterdir()) == []
    run("push", "mail", "--url", (home / "empty").as_uri())
    assert "mail" in run("status", (home / "empty").as_uri()).stdout


def test_a_folder_of_other_things_is_refused_by_what_it_holds(run: Run, home: Path) -> None:
    (home / "notes" / "mail").mkdir(parents=True)
    result = run("status", (home / "notes").as_uri(), code=5)
    assert "was not made by ferryman (it holds 'mail')" in result.stderr
    (home / "file").write_text("")
    assert "is not a folder" in run("status", (home / "file").as_uri(), code=5).stderr


def test_an_empty_store_has_no_jobs_and_no_workers(run: Run, store: Ferry) -> None:
    text = run("status").stdout
    assert "no jobs" in text
    assert "no workers" in text


def test_it_counts_queues_and_says_that_nobody_works_on_them(run: Run, store: Ferry) -> None:
    store.push("mail")
    store.push("mail", delay=60)
    store.push("crawl")
    store.backend.pause_queue("crawl")
    result = run("status")
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["crawl", "paused", "1", "0", "0", "0", "0", "0", "0"] in lines
    assert ["mail", "1", "1", "0", "0", "0", "0", "0"] in lines
    assert "no worker runs, 1 job ready" in result.stderr


def test_json_has_queues_states_and_workers(run: Run, store: Ferry) -> None:
    store.push("mail", delay=60)
    row = {"host": "h", "pid": 7, "queues": {"mail": 2}, "running": 1, "heartbeat_at": 0.0}
    store.backend.write_cell(f"{WORKER_CELLS}w1", json.dumps(row), expect=None, ttl=60)
    seen = json.loads(run("status", "--json").stdout)
    assert seen["store"] == "sqlite:///ferryman.db"
    assert seen["backend"] == "sqlite"
    assert seen["at"].endswith("Z")
    assert seen["scheduled"] == 1
    assert seen["states"]["pending"] == 1
    assert [queue["queue"] for queue in seen["queues"]] == ["mail"]
    (worker,) = seen["workers"]
    assert (worker["id"], worker["stale"], worker["queues"]) == ("w1", True, {"mail": 2})


def test_workers_are_shown_with_their_queues_and_stale_ones_marked(run: Run, store: Ferry) -> None:
    now = store.backend.clock.now()
    for name, seen in (("alive", now), ("gone", now - 500)):
        row = {"queues": {"mail": 2}, "running": 1, "heartbeat_at": seen, "started_at": now - 7_300}
        store.backend.write_cell(f"{WORKER_CELLS}{name}", json.dumps(row), expect=None, ttl=60)
    lines = [line.split() for line in run("status").stdout.splitlines()]
    assert ["alive", "1", "2h", "0s", "mail:2"] in lines
    assert ["gone", "stale", "1", "2h", "8m", "mail:2"] in lines


def test_a_file_that_was_set_aside_is_shown_with_the_reason(run: Run, home: Path) -> None:
    url = f"file://{home}/queues"
    with Ferry(url) as ferry:
        ferry.push("send", queue="mail")
        broken = home / "queues/mail/pending/broken.json"
        broken.write_text("{")
        wait_until(lambda: ferry.queue("mail").poll(1) == [] and not broken.exists(), timeout=30)
    shown = run("status", "--url", url)
    assert "set aside in mail" in shown.stderr
    [trouble] = json.loads(run("status", "--url", url, "--json").stdout)["set_aside"]
    assert (trouble["queue"], trouble["path"].endswith("broken.json")) == ("mail", True)
