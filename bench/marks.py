"""What handlers leave behind: bytes at the end of one file, over all threads and processes."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from bench.contender import Payload


class Marks:
    """An append-only file: its size counts the handlers that ran, or its lines are delays."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def count(self, _payload: Payload) -> None:
        """The no-op job: one byte, about a microsecond."""
        os.write(self._file, b".")

    def delay(self, payload: Payload) -> None:
        """The job that tells how long after its push it started."""
        os.write(self._file, b"%.7f\n" % (time.time() - payload["t"]))

    def size(self) -> int:
        return os.fstat(self._file).st_size

    def delays(self) -> list[float]:
        """Seconds from push to start, in the order of the starts."""
        return [float(line) for line in self._path.read_text().splitlines()]

    def close(self) -> None:
        os.close(self._file)
