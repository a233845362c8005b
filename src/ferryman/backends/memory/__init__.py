"""The executable reference: every rule of the contract, in one process, surviving nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ferryman.backends.memory.backend import MemoryBackend
from ferryman.errors import BackendRejected

if TYPE_CHECKING:
    from ferryman.clock import Clock

__all__ = ["MemoryBackend", "connect"]


def connect(url: str, clock: Clock) -> MemoryBackend:
    """A fresh, empty store for `memory://`; two calls never share one."""
    parts = urlsplit(url)
    if parts.query or parts.fragment or parts.path.strip("/"):
        raise BackendRejected(f"{url!r}: memory:// takes no path and no options, write memory://")
    return MemoryBackend(clock)
