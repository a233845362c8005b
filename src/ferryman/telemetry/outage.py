"""Turns a stream of failed calls into one outage with a beginning and an end."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_UNAVAILABLE = frozenset({"BackendUnavailable", "OutcomeUnknown"})
# What the worker's loops repeat until it succeeds. A wait is a poll that found nothing.
_REPEATED = {
    "poll": "poll",
    "wait": "poll",
    "heartbeat": "heartbeat",
    "settle": "settle",
    "reap": "reap",
    "prune": "prune",
    "write_cell": "write_cell",
}


class Outage:
    """Knows whether the store is out, from the worker's own calls.

    It ends when every verb that failed has succeeded again: a store that answers polls but refuses
    settlements is still out, and must not be announced as recovered between two refusals.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._failing: set[str] = set()
        self._since: float | None = None

    def begins(self) -> bool:
        """A loop could not reach the store: whether that is news."""
        with self._lock:
            if self._since is not None:
                return False
            self._since = self._monotonic()
            return True

    def called(self, verb: str, error: str | None) -> float | None:
        """A call ended; how many seconds the outage lasted if this call was the end of it."""
        verb = _REPEATED.get(verb, "")
        if not verb or (error is None and verb not in self._failing):
            return None
        with self._lock:
            if error is not None:
                if error in _UNAVAILABLE:
                    self._failing.add(verb)
                return None
            self._failing.discard(verb)
            if self._failing or self._since is None:
                return None
            since, self._since = self._since, None
            return self._monotonic() - since
