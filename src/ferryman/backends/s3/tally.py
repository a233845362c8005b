"""How many requests went out, since each of them is paid for."""

from __future__ import annotations

from collections import Counter
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Tally:
    """Requests by kind: get, put, delete, list. Repeated tries count, as they do on the bill."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: Counter[str] = Counter()

    def add(self, kind: str) -> None:
        with self._lock:
            self._counts[kind] += 1

    def counts(self) -> Mapping[str, int]:
        """A copy as of now."""
        with self._lock:
            return MappingProxyType(dict(self._counts))
