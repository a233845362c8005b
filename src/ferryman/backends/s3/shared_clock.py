"""The server's time, shared by the processes of a machine: they judge the same leases."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.backends.files.store import Store
    from ferryman.backends.s3.clock import ServerClock

BETTER: Final = 0.001
"""Seconds by which a bound must be nearer to be worth writing down."""


class SharedClock:
    """What is known of the server's clock, in the root; it holds for one boot of the machine.

    A single answer tells the time to a second, many together far better. A process that lagged
    behind the one that made a lease would find it still running, and one that was ahead would find
    a job ready that is not ready for others: so every verb begins with what all have heard, and
    leaves what it heard itself.
    """

    def __init__(self, store: Store, clock: ServerClock) -> None:
        self._store = store
        self._clock = clock
        self._path = f"{store.layout.root}/.server-clock.json"
        self._written: tuple[float, float] | None = None

    @contextlib.contextmanager
    def shared(self) -> Iterator[None]:
        """Around a verb that writes or judges times."""
        self.take()
        try:
            yield
        finally:
            self.give()

    def take(self) -> None:
        """Learn what others have heard."""
        with contextlib.suppress(ValueError, KeyError, TypeError):
            facts = json.loads(self._store.disk.read(self._path) or b"{}")
            if facts["boot"] == self._store.this_boot:
                self._clock.learn(facts["low"], facts["high"], facts["at"])
                self._written = facts["low"], facts["high"]

    def give(self) -> None:
        """Write down what we know, if it is better than what stands there."""
        known = self._clock.bounds()
        if known is None:
            return
        low, high, heard_at = known
        written = self._written
        if written is None or low - written[0] > BETTER or written[1] - high > BETTER:
            facts = {"boot": self._store.this_boot, "low": low, "high": high, "at": heard_at}
            self._store.put_hint(self._path, json.dumps(facts).encode())
            self._written = low, high
