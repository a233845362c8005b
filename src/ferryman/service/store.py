"""Opens the store that a command is about, without making one by accident."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from ferryman.errors import BackendRejected
from ferryman.queue.open import open_backend, safe_url, version_of

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend


class NoStoreYet(BackendRejected):
    """The URL is right, but nothing has ever been pushed there."""


def open_store(url: str, *, create: bool) -> Backend:
    """The store at a URL that other processes can reach; `NoStoreYet` unless it may be made."""
    if not create:
        _check_made(url)
    backend = open_backend(url)
    if not backend.capabilities.shared:
        backend.close()
        raise BackendRejected(
            f"{safe_url(url)} lives inside one process, so no command can reach it: "
            "use a store on disk or a server, such as sqlite:///jobs.db"
        )
    return backend


def _check_made(url: str) -> None:
    """Refuse what opening would make: a file or folder that is missing, or one without a store."""
    path = _path(url)
    if (path and not Path(path).exists()) or version_of(url) == 0:
        raise NoStoreYet(f"there is no store at {path or safe_url(url)} yet")


def _path(url: str) -> str:
    """Where on this machine the store lies; empty for those that lie elsewhere."""
    parts = urlsplit(url)
    match parts.scheme:
        case "sqlite":
            return unquote(parts.path)[1:]
        case "file":
            return unquote(parts.path)
        case _:
            return ""
