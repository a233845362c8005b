"""What only this store can know about itself: the library, its settings, its log, its pages."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Final

from ferryman.backends.sqlite.disk import amount, file_system, permissions, space, sync
from ferryman.backends.sqlite.schema import VERSIONS
from ferryman.queue.diagnosis import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LARGE_LOG: Final = 256 << 20

# In these releases and everything after the last: until then, a commit that restarts the log during
# another connection's checkpoint could be overlooked (sqlite.org/wal.html, "the WAL-reset bug").
_WAL_RESET_FIXED: Final = ((3, 44, 6), (3, 50, 7), (3, 51, 3))


def diagnose(connection: sqlite3.Connection, path: Path, *, deep: bool) -> Sequence[Finding]:
    """Every probe, from the library down to the disk; `deep` reads the whole file."""
    findings = [
        library(sqlite3.sqlite_version_info[:3]),
        _schema(connection),
        _synchronous(connection),
        _write_ahead_log(path),
        permissions(path),
        file_system(path.parent),
        space(path.parent),
        sync(path.parent),
    ]
    return [*findings, _integrity(connection, path)] if deep else findings


def library(version: tuple[int, ...]) -> Finding:
    """Whether this SQLite has a known fault that concerns us."""
    name = f"SQLite {'.'.join(map(str, version))}"
    if version >= _WAL_RESET_FIXED[-1] or any(
        version[:2] == release[:2] and version >= release for release in _WAL_RESET_FIXED
    ):
        return Finding.ok("library", name)
    return Finding.warning(
        "library",
        f"{name} has the WAL-reset bug: very rarely, two writers at one instant damage the file",
        "use a Python with SQLite 3.51.3 or newer, or see whether your distribution patched it",
    )


def _schema(connection: sqlite3.Connection) -> Finding:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return Finding.ok("schema", f"version {version} of {len(VERSIONS)}")


def _synchronous(connection: sqlite3.Connection) -> Finding:
    (level,) = connection.execute("PRAGMA synchronous").fetchone()
    if level >= 2:
        return Finding.ok("synchronous", "full: what was pushed survives a loss of power")
    return Finding.warning(
        "synchronous",
        "normal: a loss of power may take the pushes of the last moments with it",
        "leave ?synchronous=normal out of the URL of every process, unless you can live with that",
    )


def _write_ahead_log(path: Path) -> Finding:
    log = path.with_name(path.name + "-wal")
    size = log.stat().st_size if log.exists() else 0
    if size <= LARGE_LOG:
        return Finding.ok("write-ahead log", amount(size))
    return Finding.warning(
        "write-ahead log",
        f"{log.name} has grown to {amount(size)}: a transaction was open for long on this store",
        "end long transactions on the file (backups, shells); the log shrinks when the last "
        "process closes the store",
    )


def _integrity(connection: sqlite3.Connection, path: Path) -> Finding:
    try:
        answers = [str(row[0]) for row in connection.execute("PRAGMA quick_check(3)").fetchall()]
    except sqlite3.DatabaseError as error:
        answers = [str(error)]
    if answers == ["ok"]:
        return Finding.ok("integrity", "every page is in order")
    return Finding.problem(
        "integrity",
        f"{path.name} is damaged: {'; '.join(answers)}",
        "stop all processes, keep a copy, then restore a backup or use `sqlite3 FILE .recover`",
    )
