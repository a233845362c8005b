from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ferryman.testing import wait_until
from ferryman.worker.upkeep import WORKER_CELLS

if TYPE_CHECKING:
    from ferryman import Ferry
    from tests.cli.conftest import Command, Run


def test_a_real_worker_is_shown_and_gone_once_it_stopped(
    run: Run, command: Command, store: Ferry
) -> None:
    worker = command("work", "app:ferry", "--queues", "mail:3,slow", "--lease", "5s")
    wait_until(lambda: store.backend.read_cells(WORKER_CELLS), timeout=30, what="the worker's row")
    (shown,) = json.loads(run("workers", "--json").stdout)["workers"]
    assert (shown["pid"], shown["queues"]) == (worker.pid, {"mail": 3, "slow": 1})
    assert (shown["stale"], shown["running"]) == (False, 0)
    header, line = run("workers").stdout.splitlines()
    assert header.split()[:4] == ["HOST", "PID", "RUNNING", "SLOTS"]
    assert line.split()[:4] == [shown["host"], str(worker.pid), "0", "4"]
    assert line.endswith("mail:3,slow:1")
    worker.terminate()
    worker.communicate(timeout=30)
    assert run("workers").stdout == "no workers\n"
    assert json.loads(run("workers", "--json").stdout) == {"workers": []}


def test_a_worker_that_fell_silent_is_marked(run: Run, store: Ferry) -> None:
    row = {"host": "far", "pid": 7, "heartbeat_at": store.backend.clock.now() - 500}
    store.backend.write_cell(f"{WORKER_CELLS}w1", json.dumps(row), expect=None, ttl=60)
    assert run("workers").stdout.splitlines()[1].split()[:3] == ["far", "7", "stale"]


def test_without_a_store_there_are_no_workers_to_show(run: Run) -> None:
    assert "no store" in run("workers", code=5).stderr
