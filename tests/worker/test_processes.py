"""Workers as real processes: SIGTERM, SIGSTOP and SIGKILL."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ferryman import Ferry, Retry, Settings, State
from ferryman.testing import wait_until
from tests.worker import app

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
Process = subprocess.Popen[str]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Ferry]:
    with Ferry(f"sqlite:///{tmp_path}/jobs.db") as ferry:
        ferry.tasks.add(app.hold)
        ferry.tasks.add(app.polite)
        yield ferry


@pytest.fixture
def spawn(store: Ferry) -> Iterator[Callable[..., Process]]:
    processes: list[Process] = []

    def start(**options: float) -> Process:
        chosen = {"lease": 1.0, "drain": 5.0, "reap_every": 0.1, **options}
        command = [sys.executable, "-m", "tests.worker.app", store.url, json.dumps(chosen)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        processes.append(process)
        return process

    yield start
    for process in processes:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.kill()
        process.communicate()


def push(store: Ferry, task: str, path: Path) -> Any:
    return store.push(task, str(path), queue="default", retry=Retry(3, base=0))


def freeze(process: Process, database: Path) -> None:
    """Stop it, but not amid a transaction of SQLite's: nobody else could write until it goes on."""

    def stopped() -> bool:
        process.send_signal(signal.SIGSTOP)
        with closing(sqlite3.connect(database, isolation_level=None, timeout=0.5)) as other:
            try:
                other.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                process.send_signal(signal.SIGCONT)
                return False
            return True

    wait_until(stopped, timeout=20, what="a moment between its transactions")


def started(path: Path, claim: int = 1) -> None:
    wait_until(Path(f"{path}.started.{claim}").exists, timeout=20, what=f"claim {claim} to start")


def test_a_worker_stopped_for_two_leases_gets_lease_lost_and_the_job_ends_once(
    store: Ferry, spawn: Callable[..., Process], tmp_path: Path
) -> None:
    go = tmp_path / "go"
    handle = push(store, "hold", go)
    frozen = spawn(lease=1.5)
    started(go, 1)
    freeze(frozen, tmp_path / "jobs.db")
    other = spawn(lease=1.5)
    started(go, 2)
    go.touch()
    assert handle.wait(20).result == '"claim 2"'
    os.kill(frozen.pid, signal.SIGCONT)
    assert frozen.stdout is not None
    lines = iter(frozen.stdout.readline, "")
    assert "job.lost\n" in lines
    for worker in (frozen, other):
        worker.terminate()
        assert worker.wait(20) == 0
    job = handle.job()
    assert (job.state, job.fence, job.attempts) == (State.COMPLETED, 2, 2)
    assert [error.text for error in job.errors] == ["Worker timed out"]
    assert store.backend.snapshot().count(State.COMPLETED) == 1


def test_sigterm_drains_what_ends_in_time(
    store: Ferry, spawn: Callable[..., Process], tmp_path: Path
) -> None:
    go = tmp_path / "go"
    handle = push(store, "hold", go)
    worker = spawn(drain=20.0)
    started(go)
    worker.terminate()
    go.touch()
    assert worker.wait(20) == 0
    assert handle.job().state is State.COMPLETED


def test_sigterm_gives_back_long_jobs_within_the_grace_time_and_charges_nothing(
    store: Ferry, spawn: Callable[..., Process], tmp_path: Path
) -> None:
    paths = [tmp_path / f"never{n}" for n in range(6)]
    handles = [push(store, "hold", path) for path in paths]
    worker = spawn(slots=4, drain=1.0, lease=30.0)
    for path in paths[:4]:
        started(path)
    asked = time.monotonic()
    worker.terminate()
    assert worker.wait(20) == 0
    assert time.monotonic() - asked < 3.0
    ends = [(j.state, j.attempts, j.errors) for j in (handle.job() for handle in handles)]
    assert ends == [(State.PENDING, 0, ())] * 6


def test_a_second_signal_does_not_wait(
    store: Ferry, spawn: Callable[..., Process], tmp_path: Path
) -> None:
    never = tmp_path / "never"
    handle = push(store, "hold", never)
    worker = spawn(drain=60.0, lease=30.0)
    started(never)
    assert worker.stdout is not None
    worker.terminate()
    assert "worker.draining\n" in iter(worker.stdout.readline, "")
    worker.terminate()
    assert worker.wait(10) == 0
    job = handle.job()
    assert (job.state, job.attempts) == (State.PENDING, 0)


def test_cancel_asked_then_worker_killed_ends_cancelled(
    store: Ferry, spawn: Callable[..., Process], tmp_path: Path
) -> None:
    never = tmp_path / "never"
    handle = push(store, "hold", never)
    worker = spawn(lease=0.5)
    started(never)
    store.backend.cancel([handle.id])
    worker.kill()
    worker.wait(10)
    rescue = store.worker({"default": 1}, Settings(lease=0.5, reap_every=0.1))
    rescue.start()
    try:
        assert handle.wait(20).state is State.CANCELLED
    finally:
        rescue.join()


def test_a_killed_worker_is_charged_and_the_job_runs_again(
    store: Ferry, spawn: Callable[..., Process], tmp_path: Path
) -> None:
    go = tmp_path / "go"
    handle = push(store, "hold", go)
    first = spawn(lease=1.5)
    started(go, 1)
    first.kill()
    spawn(lease=1.5)
    started(go, 2)
    go.touch()
    job = handle.wait(20)
    assert (job.state, job.attempts, job.result) == (State.COMPLETED, 2, '"claim 2"')


def test_a_pause_reaches_a_handler_in_another_process(
    store: Ferry, spawn: Callable[..., Process], tmp_path: Path
) -> None:
    handle = push(store, "polite", tmp_path / "p")
    spawn(lease=0.5)
    started(tmp_path / "p")
    store.backend.pause([handle.id])
    wait_until(lambda: handle.status() is State.PAUSED, what="paused")
    assert handle.job().attempts == 0
