"""File backends on a given disk, as the processes of a test would open them."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from ferryman.backends.files.backend import FileBackend
from ferryman.backends.files.disk import Found, LocalDisk
from ferryman.backends.files.location import Location

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.backends.files.disk import Disk
    from ferryman.queue.contract import Backend
    from ferryman.testing import FakeClock


class Build(Protocol):
    """Opens a backend: the sound one, or one that is broken on purpose."""

    def __call__(self, root: str, clock: FakeClock, disk: Disk) -> Backend: ...


def opened(root: str, clock: FakeClock, disk: Disk) -> Backend:
    """The file backend as it is."""
    return FileBackend(Location(root), disk, clock)


class AgedDisk(LocalDisk):
    """A real disk on which everything was changed two hours ago: time for litter to be swept."""

    def look(self, path: str, at: int | None = None) -> Found | None:
        found = super().look(path, at)
        return found and found._replace(changed_at=found.changed_at - 7_200)


@contextmanager
def folder() -> Iterator[str]:
    """A folder for one run, in memory where there is such a place: nobody waits for an fsync."""
    root = tempfile.mkdtemp(prefix="ferryman-disk-", dir=_FAST)
    try:
        yield f"{root}/store"
    finally:
        shutil.rmtree(root)


_FAST: Final = next((path for path in ("/dev/shm",) if Path(path).is_dir()), None)  # noqa: S108
