"""Queues as folders of readable files: no server, no database, and people may use their hands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.files.backend import FileBackend
from ferryman.backends.files.disk import LocalDisk
from ferryman.backends.files.errors import translate
from ferryman.backends.files.layout import FORMAT
from ferryman.backends.files.location import Location

if TYPE_CHECKING:
    from ferryman.clock import Clock

__all__ = ["FileBackend", "connect", "version_of"]


def connect(url: str, clock: Clock) -> FileBackend:
    """Open `file:///srv/queues`; the folder is made if it is new.

    Options: `?durability=relaxed` (no fsync), `?shared=1` (a folder that several machines see).
    """
    location = Location.parse(url)
    return FileBackend(location, LocalDisk(durable=location.durable), clock)


def version_of(url: str) -> int:
    """The version of the layout; 0 where a store could be made, and was not yet."""
    location = Location.parse(url)
    try:
        return 0 if location.is_new(LocalDisk()) else FORMAT
    except OSError as error:
        raise translate(error, location.root, committed=False) from error
