"""Worker processes on one store that call one service."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]


class Crew:
    """Starts workers, and kills them without warning."""

    def __init__(self, url: str, service: str, **options: Any) -> None:
        self._command = [sys.executable, "-m", "tests.flow.app", url, service, json.dumps(options)]
        self.workers: list[subprocess.Popen[bytes]] = []

    def hire(self, number: int = 1) -> None:
        for _ in range(number):
            self.workers.append(subprocess.Popen(self._command, cwd=ROOT))

    def kill(self) -> None:
        """SIGKILL for the oldest."""
        worker = self.workers.pop(0)
        worker.kill()
        worker.wait()

    def dismiss(self) -> list[int]:
        """SIGTERM for all; their exit codes."""
        for worker in self.workers:
            worker.terminate()
        return [worker.wait(30) for worker in self.workers]


@contextmanager
def crew(url: str, service: str, number: int, **options: Any) -> Iterator[Crew]:
    hired = Crew(url, service, **options)
    hired.hire(number)
    try:
        yield hired
    finally:
        for worker in hired.workers:
            if worker.poll() is None:
                worker.kill()
            worker.wait()
