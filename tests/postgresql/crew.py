"""Producers and a worker as processes of their own, for servers that go away under them.

Run as a program with a part (`produce` or `work`), a URL and a name. A producer says the id of
every push that was acknowledged, a worker the id of every job that it ran.
"""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ferryman import BackendUnavailable, Ferry, Job, Retry, Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

QUEUE = "mail"
PACE = 0.003
"""Seconds between two pushes of one producer."""


def produce(url: str, name: str) -> int:
    """Push until asked to stop; what has an unknown outcome is pushed again."""
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    with Ferry(url) as ferry:
        for number in itertools.count():
            job_id = f"{name}-{number}"
            while not stop.is_set():
                try:
                    ferry.push("carry", number, queue=QUEUE, id=job_id)
                except BackendUnavailable:
                    stop.wait(0.05)
                    continue
                say(job_id)
                break
            if stop.wait(PACE):
                return 0
    return 0


def work(url: str, name: str) -> int:
    """Run what there is, until asked to stop."""
    with Ferry(url) as ferry:

        @ferry.task(queue=QUEUE, retry=Retry(1))
        def carry(number: int, job: Job) -> int:
            say(job.id)
            return number

        settings = Settings(lease=6.0, reap_every=0.5, drain=5.0)
        return ferry.worker({QUEUE: 2}, settings).run()


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


class Member:
    """One of the processes."""

    def __init__(self, part: str, url: str, name: str, folder: Path) -> None:
        self._said = folder / name
        self._errors = folder / f"{name}.errors"
        with self._said.open("wb") as said, self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.postgresql.crew", part, url, name],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=errors,
            )

    @property
    def said(self) -> Sequence[str]:
        """The whole lines so far."""
        text = self._said.read_text()
        return text[: text.rfind("\n") + 1].split()

    def stop(self) -> None:
        """Ask it to end; it must end in order."""
        self._process.send_signal(signal.SIGTERM)
        assert self._process.wait(20) == 0, self._errors.read_text()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@contextmanager
def crew(url: str, folder: Path, producers: int = 2) -> Iterator[tuple[Sequence[Member], Member]]:
    """Producers and a worker, under way; those that still run at the end are killed."""
    members = [Member("produce", url, f"p{n}", folder) for n in range(producers)]
    members.append(Member("work", url, "worker", folder))
    try:
        yield members[:-1], members[-1]
    finally:
        for member in members:
            member.kill()


if __name__ == "__main__":
    raise SystemExit({"produce": produce, "work": work}[sys.argv[1]](*sys.argv[2:]))
