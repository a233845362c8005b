"""`.sync/last.json`: when a machine last looked at the bucket, for all of its processes."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ferryman.backends.s3.node import Node

TOMBSTONE: Final = 900.0
"""Seconds for which the `lease.json` of a job that is over stays in the bucket."""
INTERVAL: Final = 60.0
HISTORY: Final = 600.0
"""Seconds between two listings of finished records, of which there may be many."""
_DOUBT: Final = 10.0
"""Seconds by which the server's clock, or the time of an object, may be off."""
_PASS: Final = 120.0
"""Seconds that a pass may take: meanwhile tombstones go."""
_NEVER: Final = float("-inf")


class Stamp:
    """The last pass and the last listing of records, by the clock that no one sets.

    `listed_at` is the latter by the server's clock, which other boots know too.
    """

    def __init__(self, node: Node, folder: str) -> None:
        self._node = node
        self._store = node.store
        self._path = f"{folder}/last.json"
        self._synced = _NEVER
        self._listed = _NEVER
        self._listed_at: float | None = None

    def now(self) -> tuple[float, float]:
        """This moment by both clocks."""
        return self._store.file_clock.monotonic(), self._node.bucket.clock().now()

    def age(self) -> float:
        """Seconds since the machine's last pass."""
        now = self._store.file_clock.monotonic()
        if now - self._synced > INTERVAL:
            self._read()
        return now - self._synced

    def history_due(self) -> bool:
        return self._store.file_clock.monotonic() - self._listed > HISTORY

    def away(self) -> float:
        """Since when it may have missed that jobs ended again, by the server's clock.

        Who looks in time learns that from their tombstones: then it is never.
        """
        self._read()
        if self._listed_at is None:
            return _NEVER
        recent = self._node.bucket.clock().now() - self._listed_at < TOMBSTONE - _PASS
        return float("inf") if recent else self._listed_at - _DOUBT

    def put(self, moment: tuple[float, float], *, listed: bool) -> None:
        """A pass began then, and is over."""
        self._synced = moment[0]
        if listed:
            self._listed, self._listed_at = moment
        facts = {
            "boot": self._store.this_boot,
            "synced": self._synced,
            "listed": self._listed,
            "listed_at": self._listed_at,
        }
        self._store.put_hint(self._path, json.dumps(facts).encode())

    def _read(self) -> None:
        with contextlib.suppress(ValueError, KeyError, TypeError):
            facts = json.loads(self._store.disk.read(self._path) or b"{}")
            if facts["boot"] == self._store.this_boot:
                self._synced = max(self._synced, float(facts["synced"]))
                self._listed = max(self._listed, float(facts["listed"]))
            listed_at = float(facts["listed_at"])
            self._listed_at = max(self._listed_at or listed_at, listed_at)
