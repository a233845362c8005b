"""The embedded default: one file, no server, durable and shared by the processes of one machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.sqlite.backend import SqliteBackend
from ferryman.backends.sqlite.location import Location
from ferryman.backends.sqlite.schema import script

if TYPE_CHECKING:
    from ferryman.clock import Clock

__all__ = ["SqliteBackend", "connect", "schema_of"]


def connect(url: str, clock: Clock) -> SqliteBackend:
    """Open `sqlite:///relative.db` or `sqlite:////absolute/path.db`; first use makes the file.

    Options: `?synchronous=normal` (default full), `?busy_timeout=10` (seconds, default 5).
    """
    return SqliteBackend(Location.parse(url), clock)


def schema_of(url: str, version: int) -> str:
    """The SQL that leads a database from this version to the present one."""
    Location.parse(url)
    return script(version)
