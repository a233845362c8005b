"""What SQLite says when it fails, in the words of the contract: the only place that knows codes."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Final

from ferryman.errors import BackendError, BackendRejected, BackendUnavailable, OutcomeUnknown

if TYPE_CHECKING:
    from pathlib import Path

# A mistake of ours, not of the store: it must surface as what it is.
_BUGS: Final = (sqlite3.ProgrammingError, sqlite3.InterfaceError, sqlite3.IntegrityError)
_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})
_LASTING: Final = {
    sqlite3.SQLITE_NOTADB: "is not an SQLite database: move it away or choose another file",
    sqlite3.SQLITE_CORRUPT: "is damaged: stop all processes, keep a copy, and repair it with "
    "`sqlite3 FILE .recover` or restore a backup",
    sqlite3.SQLITE_READONLY: "is read-only: let this user write to the file and its folder",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: let this user read and write the file and its "
    "folder",
    sqlite3.SQLITE_PERM: "cannot be opened: let this user read and write the file and its folder",
}


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection holds the lock; nothing was written."""
    return code_of(error) in _BUSY


def leaves_connection_whole(error: sqlite3.Error) -> bool:
    """Whether the connection can be used further; otherwise a fresh one is opened."""
    return code_of(error) in _BUSY | {sqlite3.SQLITE_FULL, sqlite3.SQLITE_ERROR}


def translate(error: sqlite3.Error, path: Path, *, committing: bool = False) -> Exception:
    """The error of the contract for one of the driver's. `committing`: COMMIT was on its way."""
    if isinstance(error, _BUGS):
        return error
    return _translated(code_of(error), error, path, committing)


def code_of(error: sqlite3.Error) -> int:
    """The primary result code: the low byte of the extended one."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def _translated(code: int, error: sqlite3.Error, path: Path, committing: bool) -> BackendError:
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    if code in _BUSY:
        return BackendUnavailable(
            f"{path} is locked by another process ({error}): try again; if it stays so, look for "
            "a long transaction or raise busy_timeout"
        )
    if code == sqlite3.SQLITE_FULL:
        return BackendUnavailable(
            f"the disk is full, nothing was written to {path} and what it holds is safe: free space"
        )
    if code in _LASTING:
        return BackendRejected(f"{path} {_LASTING[code]} ({name}: {error})")
    if code == sqlite3.SQLITE_IOERR and committing:
        return OutcomeUnknown(
            f"{path}: the write broke off ({name}: {error}); it happened wholly or not at all: "
            "repeat it with the same ids"
        )
    if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_INTERRUPT):
        return BackendUnavailable(f"{path}: {name}: {error}; nothing was written")
    return BackendRejected(f"{path}: {name}: {error}")
