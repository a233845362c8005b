"""A million waiting jobs: a poll costs what it costs beside a thousand, and memory stays flat."""

from __future__ import annotations

import json
import os
import sqlite3
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ferryman import Ferry, State

if TYPE_CHECKING:
    from collections.abc import Iterator

MILLION = 1_000_000

# One statement, because pushing a million takes most of a minute; counts as the verbs keep them.
FILL = """
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :more)
INSERT INTO jobs (id, queue, task, state, scheduled, priority, ready_at, version, max_attempts,
                  created_at, body)
SELECT printf('filler-%08d', n), 'default', 'touch', 'pending', 0, 0, :now + n / 1e6, 1, 5, :now,
       '{"n": 1}'
FROM numbers
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ferry]:
    folder = tmp_path_factory.mktemp("backlog")
    with Ferry(f"sqlite:///{folder}/jobs.db") as ferry:
        for _ in range(1_000):
            ferry.push("touch", {"n": 1}, queue="default")
        yield ferry


@pytest.mark.timeout(120)
def test_with_a_million_waiting_a_poll_costs_the_same_and_a_worker_stays_small(
    store: Ferry, tmp_path: Path
) -> None:
    few = poll_cost(store)
    fill(store)
    assert store.backend.snapshot().count(State.PENDING) == MILLION
    many = poll_cost(store)
    assert many < few * 1.5, f"{many * 1e6:.0f} µs beside a million, {few * 1e6:.0f} µs before"

    # SQLite's page cache may still fill up (16 MiB); 1 KiB kept for each job would be 50 MiB.
    early, late = resident_memory(store.url, jobs=(10_000, 60_000))
    assert late - early < 24 * 2**20, f"grew from {early:,} to {late:,} bytes"


def poll_cost(store: Ferry) -> float:
    """CPU seconds for a claim of ten, the lower quartile of many; the jobs are given back.

    Wall time would measure the disk and whatever else this machine does.
    """
    seconds = []
    for _ in range(100):
        queue = store.queue("default")
        started = time.thread_time()
        jobs = queue.poll(10)
        seconds.append(time.thread_time() - started)
        assert len(jobs) == 10
        queue.close()
    return statistics.quantiles(seconds)[0]


def fill(store: Ferry) -> None:
    path = store.url.removeprefix("sqlite:///")
    connection = sqlite3.connect(path)
    with connection:
        more = MILLION - store.backend.snapshot().count(State.PENDING)
        connection.execute(FILL, {"more": more, "now": time.time() - 10})
        connection.execute("UPDATE counts SET n = n + ? WHERE state = 'pending'", [more])
    connection.close()


def resident_memory(url: str, jobs: tuple[int, int]) -> tuple[int, int]:
    """Bytes of a worker process after it has run so many jobs, and after so many more."""
    command = [sys.executable, __file__, url, json.dumps(jobs)]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    early, late = json.loads(ran.stdout)
    return early, late


def main(url: str, jobs: str) -> None:
    with Ferry(url) as ferry:

        @ferry.task()
        def touch(payload: dict[str, int]) -> None: ...

        worker = ferry.worker({"default": 4})
        worker.start()
        sizes = []
        for count in json.loads(jobs):
            while ferry.backend.snapshot().count(State.COMPLETED) < count:
                time.sleep(0.01)
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            sizes.append(pages * os.sysconf("SC_PAGE_SIZE"))
        worker.join()
    sys.stdout.write(json.dumps(sizes))


if __name__ == "__main__":
    main(*sys.argv[1:])
