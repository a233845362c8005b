"""The embedded default: one file, no server, durable and shared by the processes of one machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.sqlite.backend import SqliteBackend
from ferryman.backends.sqlite.location import Location

if TYPE_CHECKING:
    from ferryman.clock import Clock

__all__ = ["SqliteBackend", "connect"]


def connect(url: str, clock: Clock) -> SqliteBackend:
    """Open `sqlite:///relative.db` or `sqlite:////absolute/path.db`; first use makes the file.

    Options: `?synchronous=normal` (default full), `?busy_timeout=10` (seconds, default 5).
    """
    return SqliteBackend(Location.parse(url), clock)
