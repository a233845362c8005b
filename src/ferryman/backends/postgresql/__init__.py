"""PostgreSQL: the store that many machines share, with pushes inside your own transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.postgresql.backend import PostgresqlBackend
from ferryman.backends.postgresql.location import Location
from ferryman.backends.postgresql.schema import script, version_of

if TYPE_CHECKING:
    from ferryman.clock import Clock

__all__ = ["PostgresqlBackend", "connect", "schema_of", "version_of"]


def connect(url: str, clock: Clock) -> PostgresqlBackend:
    """Open `postgresql://user@host/database`; first use makes the schema.

    Options of ours: `?schema=ferryman`, `?timeout=30` (seconds for one statement),
    `?connections=10` (at most, in this process), `?listen=no` (wake by polling alone). All others
    go to libpq.
    """
    return PostgresqlBackend(Location.parse(url), clock)


def schema_of(url: str, version: int) -> str:
    """The SQL that leads the schema from this version to the present one."""
    return script(Location.parse(url), version)
