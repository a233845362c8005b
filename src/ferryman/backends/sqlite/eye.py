"""Seeing another process's commit when it happens: inotify on SQLite's log, where there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.inotify import ATTRIBUTES, DELETED, MODIFIED, MOVED, Eye

if TYPE_CHECKING:
    from pathlib import Path


def eye_on(database: Path) -> Eye | None:
    """An eye on a database that is open; it sees writes to the log, and the file going away.

    It opens neither file, so closing it drops none of SQLite's locks.
    """
    return Eye.on({f"{database}-wal": MODIFIED, f"{database}": ATTRIBUTES | DELETED | MOVED})
