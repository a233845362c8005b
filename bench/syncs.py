"""How often a push makes a folder durable, counted at the file backend's own door to the disk."""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.contender import QUEUE
from ferryman import Message
from ferryman.backends.files.backend import FileBackend
from ferryman.backends.files.disk import LocalDisk
from ferryman.backends.files.location import Location
from ferryman.clock import SystemClock


def folder_syncs(home: Path | None, jobs: int) -> float:
    """Fsyncs of folders a job, and of the whole file system, in one push of that many."""
    with tempfile.TemporaryDirectory(prefix=".bench-", dir=home or Path.cwd()) as folder:
        disk = CountingDisk()
        backend = FileBackend(Location(f"{folder}/queues"), disk, SystemClock())
        try:
            backend.push([Message(queue=QUEUE, task="first")])
            disk.syncs = 0
            numbers = range(jobs)
            backend.push([Message(queue=QUEUE, task="noop", body=f"{n}") for n in numbers])
        finally:
            backend.close()
    return disk.syncs / jobs


class CountingDisk(LocalDisk):
    """The real calls, and how many of them sync more than one file."""

    def __init__(self) -> None:
        super().__init__()
        self.syncs = 0

    def sync_folder(self, path: str, at: int | None = None) -> None:
        self.syncs += 1
        super().sync_folder(path, at)

    def sync_all(self, path: str) -> None:
        self.syncs += 1
        super().sync_all(path)
