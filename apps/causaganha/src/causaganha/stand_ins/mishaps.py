"""When a stand-in misbehaves: once for each thing it is asked, in turn, never by chance."""

from __future__ import annotations

import threading
from collections import Counter
from itertools import cycle
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class Mishaps:
    """Every subject (a file, a chunk) meets one of `kinds`, then none; `met` counts them."""

    def __init__(self, kinds: Sequence[str] = ()) -> None:
        self.met: Counter[str] = Counter()
        self._kinds = cycle(kinds)
        self._asked: set[str] = set()
        self._lock = threading.Lock()

    def next(self, subject: str) -> str | None:
        """What goes wrong this time; None: nothing."""
        with self._lock:
            if subject in self._asked:
                return None
            self._asked.add(subject)
            kind = next(self._kinds, None)
            if kind is not None:
                self.met[kind] += 1
            return kind
