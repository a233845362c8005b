"""What a file system says when it fails, in the words of the contract."""

from __future__ import annotations

import errno
from typing import Final

from ferryman.backends.files.disk import SyncFailed
from ferryman.errors import BackendError, BackendRejected, BackendUnavailable, OutcomeUnknown

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
_LASTING: Final = {
    errno.EROFS: "is on a read-only file system: mount it for writing",
    errno.EACCES: "may not be used by this user: give it read and write permission for the folder",
    errno.EPERM: "may not be changed by this user: let every process run as the folder's owner",
}

_OF_AN_ENTRY: Final = frozenset(
    {
        errno.ENOENT,
        errno.EACCES,
        errno.EPERM,
        errno.EISDIR,
        errno.ENOTDIR,
        errno.ELOOP,
        errno.ENAMETOOLONG,
        errno.ENXIO,
    }
)


def lies_in(error: OSError, *paths: str) -> bool:
    """Whether only what lies at one of the paths is at fault: other jobs need not wait for it."""
    if error.errno not in _OF_AN_ENTRY or isinstance(error, SyncFailed):
        return False
    # A file that could not be moved has two names; one without a path was looked for in the locked
    # folder of that very job.
    named = [str(name) for name in (error.filename, error.filename2) if name is not None]
    return any(
        not name.startswith("/") or name == path or name.startswith(f"{path}/")
        for name in named or [""]
        for path in paths
    )


def translate(error: OSError, root: str, *, committed: bool) -> BackendError:
    """The error of the contract. `committed`: a part of the work may be there already."""
    said = f"{error.strerror or error} ({_place(error) or root})"
    if isinstance(error, SyncFailed):
        return OutcomeUnknown(
            f"{root}: fsync failed: {said}; what was just written may not survive a loss of power. "
            "This process acknowledges nothing more: check the disk, then open the store again"
        )
    if error.errno in _FULL and not committed:
        return BackendUnavailable(
            f"{root}: the disk is full ({said}); nothing was lost: free space or inodes"
        )
    if committed:
        return OutcomeUnknown(
            f"{root}: the work broke off: {said}; each job of it happened wholly or not at all: "
            "repeat it with the same ids"
        )
    if error.errno in _LASTING:
        return BackendRejected(f"{root} {_LASTING[error.errno or 0]} ({said})")
    return BackendUnavailable(f"{root}: {said}; nothing was written")


def _place(error: OSError) -> str | None:
    """Where it happened: of a rename the new path, as the old one is most often in `.tmp`."""
    names = (error.filename2, error.filename)
    return next((str(name) for name in names if str(name).startswith("/")), error.filename)
