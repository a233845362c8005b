"""The server's time, shared by the processes of a machine: they judge the same leases."""

from __future__ import annotations

import contextlib
import json
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ferryman.backends.files.store import Store
    from ferryman.backends.s3.clock import ServerClock

EVERY: Final = 1.0
BETTER: Final = 0.01
"""Seconds by which bounds must be narrower to be worth writing down."""


class SharedClock:
    """What is known of the server's clock, in the root; it holds for one boot of the machine.

    A single answer tells the time to a second, many together far better: a process that has just
    started takes over what the others have heard.
    """

    def __init__(self, store: Store, clock: ServerClock) -> None:
        self._store = store
        self._clock = clock
        self._path = f"{store.layout.root}/.server-clock.json"
        self._shared_at = float("-inf")

    def share(self) -> None:
        """Take over what others have heard and leave what we know better, once a second."""
        if time.monotonic() - self._shared_at < EVERY:
            return
        self._shared_at = time.monotonic()
        written = self._read()
        known = self._clock.bounds()
        if known is None:
            return
        low, high, heard_at = known
        if written is None or high - low < written - BETTER:
            facts = {"boot": self._store.this_boot, "low": low, "high": high, "at": heard_at}
            self._store.put_hint(self._path, json.dumps(facts).encode())

    def _read(self) -> float | None:
        """Learn what is written there; how wide its bounds are, None without any of this boot."""
        with contextlib.suppress(ValueError, KeyError, TypeError):
            facts = json.loads(self._store.disk.read(self._path) or b"{}")
            if facts["boot"] == self._store.this_boot:
                self._clock.learn(facts["low"], facts["high"], facts["at"])
                return float(facts["high"]) - float(facts["low"])
        return None
