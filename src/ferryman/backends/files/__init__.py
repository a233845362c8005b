"""Queues as folders of readable files: no server, no database, and people may use their hands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.files.backend import FileBackend
from ferryman.backends.files.disk import LocalDisk
from ferryman.backends.files.location import Location

if TYPE_CHECKING:
    from ferryman.clock import Clock

__all__ = ["FileBackend", "connect"]


def connect(url: str, clock: Clock) -> FileBackend:
    """Open `file:///srv/queues`; the folder is made if it is new.

    Options: `?durability=relaxed` (no fsync), `?shared=1` (a folder that several machines see).
    """
    location = Location.parse(url)
    return FileBackend(location, LocalDisk(durable=location.durable), clock)
