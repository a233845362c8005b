"""Small shared values with compare-and-set, one object each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from ferryman.backends.files.document import Unreadable, parse
from ferryman.backends.files.names import LONGEST, name_of
from ferryman.backends.s3.answers import Lost
from ferryman.errors import BackendRejected, BackendUnavailable
from ferryman.ids import new_id
from ferryman.queue.answers import Cell

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferryman.backends.s3.answers import Object
    from ferryman.backends.s3.node import Node

KEPT: Final = 86_400.0
"""Seconds for which the version of a deleted or expired cell is remembered."""
_TRIES: Final = 30


@dataclass(frozen=True, slots=True)
class Stored:
    """A cell as its object tells it; `cell` is None once it was deleted or has expired (`over`)."""

    etag: str | None
    version: int
    cell: Cell | None
    over: float | None = None


class Cells:
    """What was read is kept by its etag: a listing tells which cells have changed since."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._known: dict[str, Object] = {}

    def read(self, prefix: str) -> Sequence[Cell]:
        """Living cells whose key starts with `prefix`, by key."""
        cells = [self._stored(found).cell for found in self._objects(prefix).values()]
        living = [cell for cell in cells if cell is not None and cell.key.startswith(prefix)]
        return sorted(living, key=lambda cell: cell.key)

    def forget_old(self) -> int:
        """Remove what is left of cells that were deleted, or expired, over a day ago; how many."""
        before = self._node.store.now() - KEPT
        removed = 0
        for key, found in self._objects("").items():
            over = self._stored(found).over
            if over is not None and over < before:
                removed += self._node.bucket.delete(key, found.etag)
                self._known.pop(key, None)
        return removed

    def _objects(self, prefix: str) -> Mapping[str, Object]:
        """What stands below the prefix by its key; only what has changed is read."""
        name = name_of(prefix) if prefix else ""
        # The name of a longer key may be cut before the prefix ends.
        start = self._node.home.cells + (name if len(name.encode()) < LONGEST // 2 else "")
        entries = list(self._node.bucket.list(start))
        known = self._known
        stale = [
            entry.key
            for entry in entries
            if entry.key not in known or known[entry.key].etag != entry.etag
        ]
        for key, found in zip(stale, self._node.each(self._node.bucket.get, stale), strict=True):
            if found is None:
                known.pop(key, None)
            else:
                known[key] = found
        return {entry.key: known[entry.key] for entry in entries if entry.key in known}

    def write(
        self, key: str, value: str | None, *, expect: int | None, ttl: float | None
    ) -> Cell | None:
        """Write or delete if the version is the expected one; see the contract."""
        place = self._node.home.cell(key)
        for _ in range(_TRIES):
            stored = self._stored(self._node.bucket.get(place))
            if stored.cell is not None and stored.cell.key != key:
                raise BackendRejected(
                    f"the cell {key!r} has the name of cell {stored.cell.key!r}: choose another key"
                )
            if expect is not None and expect != (stored.cell.version if stored.cell else 0):
                return None
            if value is None and stored.cell is None:
                return None
            done = self._put(place, key, value, ttl, stored)
            if done is not None:
                return stored.cell if value is None else done
        raise BackendUnavailable(f"the cell {key!r} is written by many at once: try again")

    def _put(
        self, place: str, key: str, value: str | None, ttl: float | None, stored: Stored
    ) -> Cell | None:
        version = stored.version + (value is not None)
        expires_at = None if ttl is None else self._node.store.now() + ttl
        facts = {
            "key": key,
            "value": value,
            "version": version,
            "expires_at": expires_at,
            "at": self._node.store.now(),
            "nonce": new_id(),
        }
        body = json.dumps(facts, ensure_ascii=False, indent=2).encode() + b"\n"
        bucket = self._node.bucket
        put = (
            partial(bucket.put_new, place, body)
            if stored.etag is None
            else partial(bucket.put_over, place, body, stored.etag)
        )
        return None if isinstance(put(), Lost) else Cell(key, value or "", version, expires_at)

    def _stored(self, found: Object | None) -> Stored:
        if found is None:
            return Stored(None, 0, None)
        try:
            facts = parse(found.body)
            key, value, version = facts["key"], facts["value"], int(facts["version"])
            expires_at = facts["expires_at"]
        except (Unreadable, KeyError, TypeError, ValueError):
            # Nothing that a cell holds is worth stopping for: the next write mends it.
            return Stored(found.etag, int(found.modified), None)
        if value is None:
            return Stored(found.etag, version, None, facts.get("at", found.modified))
        if expires_at is not None and expires_at <= self._node.store.now():
            return Stored(found.etag, version, None, expires_at)
        return Stored(found.etag, version, Cell(key, value, version, expires_at))
