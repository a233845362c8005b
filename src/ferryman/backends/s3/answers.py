"""What a bucket answers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Object:
    """One object as it was read. `modified` is seconds since the epoch by the server's clock."""

    body: bytes
    etag: str
    modified: float


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a listing."""

    key: str
    etag: str
    size: int
    modified: float


@dataclass(frozen=True, slots=True)
class Lost:
    """The condition did not hold, so nothing was written; `found` is what stood there just after.

    It may be None even if an object barred the way: it was deleted in between.
    """

    found: Object | None
