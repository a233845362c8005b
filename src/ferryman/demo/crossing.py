"""Runs the demo: two workers, one of them killed with SIGKILL while it holds jobs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ferryman.demo.boats import Boats
from ferryman.ferry import Ferry
from ferryman.filter import Filter
from ferryman.job import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ferryman.job import Job

STEPS = ("load", "cross", "unload")
GIVE_UP = 60.0


@dataclass(frozen=True, slots=True)
class Report:
    """What the store and the quay's book say after the crossing."""

    crates: int
    jobs: tuple[Job, ...]
    book: Counter[int]
    held_at_kill: int
    seconds: float

    def of(self, step: str) -> list[Job]:
        return [job for job in self.jobs if job.task == step]

    def completed(self, step: str) -> int:
        return sum(job.state is State.COMPLETED for job in self.of(step))

    @property
    def recovered(self) -> int:
        """Jobs whose claim died with its worker and that another one finished."""
        return sum(any(e.kind == "lease" for e in job.errors) for job in self.jobs)

    @property
    def retried(self) -> int:
        return sum(any(e.kind != "lease" for e in job.errors) for job in self.jobs)

    @property
    def lost(self) -> int:
        unfinished = sum(self.crates - self.completed(step) for step in STEPS)
        return unfinished + len(set(range(self.crates)) - set(self.book))


def run(crates: int, say: Callable[[str], None]) -> Report:
    """Push, work, kill, recover; `say` gets a line at each turn of events."""
    with tempfile.TemporaryDirectory(prefix="ferryman-demo-") as folder:
        url, book = f"sqlite:///{folder}/jobs.db", Path(folder, "book")
        with Ferry(url) as ferry, _workers(url, book) as start:
            return _cross(ferry, book, crates, start, say)


def _cross(
    ferry: Ferry,
    book: Path,
    crates: int,
    start: Callable[[], subprocess.Popen[bytes]],
    say: Callable[[str], None],
) -> Report:
    began = time.monotonic()
    for crate in range(crates):
        ferry.push("load", crate, queue="load", id=f"load-{crate}")
    say(f"{crates} crates on the bank: pushed, and safe on disk")
    doomed, _other = start(), start()
    say("two workers started")
    boats = Boats(ferry, STEPS, crates)
    boats.watch(lambda done: done >= crates * len(STEPS) * 0.3, GIVE_UP)
    held = _kill(ferry, doomed)
    boats.say(f"worker {doomed.pid} killed with SIGKILL while it held {held} jobs")
    start()
    boats.say("a new worker started; the dead one's leases run out after 2 s")
    boats.watch(lambda done: done >= crates * len(STEPS), GIVE_UP)
    boats.close()
    jobs = tuple(job for step in STEPS for job in _jobs(ferry, step))
    lines = Counter(int(line) for line in book.read_text().split()) if book.exists() else Counter()
    return Report(crates, jobs, lines, held, time.monotonic() - began)


def _kill(ferry: Ferry, worker: subprocess.Popen[bytes]) -> int:
    """SIGKILL at a moment when the worker holds something; how many jobs."""
    until = time.monotonic() + GIVE_UP
    while time.monotonic() < until:
        os.kill(worker.pid, signal.SIGSTOP)
        held = _held_by(ferry, worker.pid)
        if held:
            break
        os.kill(worker.pid, signal.SIGCONT)
    worker.kill()
    worker.wait()
    return held


def _held_by(ferry: Ferry, pid: int) -> int:
    page = ferry.backend.list(Filter.parse("state:processing"), limit=1000)
    return sum(f":{pid}:" in (job.worker or "") for job in page.jobs)


def _jobs(ferry: Ferry, step: str) -> Iterator[Job]:
    page = ferry.backend.list(Filter.parse(f"task:{step}"), limit=10_000)
    for job in page.jobs:
        whole = ferry.backend.get(job.id)
        if whole is not None:
            yield whole


@contextmanager
def _workers(url: str, book: Path) -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []
    command = [sys.executable, "-m", "ferryman.cli.main", "work", "ferryman.demo.tasks:ferry"]
    queues = ",".join(f"{step}:2" for step in STEPS)
    options = ["--queues", queues, "--lease", "2", "--drain", "5", "--log-level", "error"]
    environment = {**os.environ, "FERRYMAN_URL": url, "FERRYMAN_DEMO_BOOK": str(book)}

    def start() -> subprocess.Popen[bytes]:
        worker = subprocess.Popen([*command, *options], env=environment)
        started.append(worker)
        return worker

    try:
        yield start
    finally:
        for worker in started:
            worker.terminate()
        for worker in started:
            worker.wait(30)
