"""Two processes at one folder of queues, of which one meets the other between two calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferryman.backends.files import FileBackend
from ferryman.backends.files.disk import LocalDisk
from ferryman.backends.files.location import Location
from ferryman.message import Message

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ferryman.backends.files.disk import Disk
    from ferryman.job import Job
    from ferryman.testing.clock import FakeClock


class MetDisk:
    """The real disk; before a call about a path that ends so, once, somebody else acts."""

    def __init__(self) -> None:
        self._disk = LocalDisk(durable=False)
        self._met: dict[tuple[str, str], Callable[[], object]] = {}

    def meet(self, call: str, ending: str, act: Callable[[], object]) -> None:
        self._met[call, ending] = act

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._disk, name)
        if not callable(found):
            return found

        def call(*args: Any, **options: Any) -> Any:
            for met, ending in list(self._met):
                if met == name and any(str(each).endswith(ending) for each in args):
                    self._met.pop((met, ending))()
            return found(*args, **options)

        return call


def opened(root: Path, clock: FakeClock, disk: Disk | None = None) -> FileBackend:
    return FileBackend(Location(str(root)), disk or LocalDisk(durable=False), clock)


def push(store: FileBackend, *ids: str, **options: Any) -> None:
    store.push([Message.of("mail", "send", id=job_id, **options) for job_id in ids])


def polled(store: FileBackend, limit: int = 10) -> list[Job]:
    return list(store.poll("w", {"mail": limit}, lease=60))


def ids(jobs: list[Job]) -> list[str]:
    return [job.id for job in jobs]
