"""Reads at a fixed rate, whatever the answers take: each is timed from the moment it was due."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.visitor import Visitor

REFUSED: Final = 60_000.0
"""Milliseconds that an answer counts for which is no success."""
AT_ONCE: Final = 48
"""Requests under way at most; those that find no place are late, and that is counted."""


class Load:
    """An open loop over a list of targets, from its first to its last and round again."""

    def __init__(self, visitor: Visitor, targets: Sequence[str]) -> None:
        self._visitor = visitor
        self._targets = targets
        self._lock = threading.Lock()
        self._next = 0
        self._times: list[float] = []
        self._errors: list[Exception] = []

    def run(self, rate: float, seconds: float) -> list[float]:
        """Milliseconds from due to answered, in the order of the answers."""
        self._next, self._times = 0, []
        total = round(rate * seconds)
        began = time.monotonic() + 0.2
        threads = [
            threading.Thread(target=self._ask, args=(began, rate, total), daemon=True)
            for _ in range(AT_ONCE)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self._errors:
            raise self._errors[0]
        return self._times

    def _ask(self, began: float, rate: float, total: int) -> None:
        visitor = self._visitor.another()
        try:
            while not self._errors:
                with self._lock:
                    number, self._next = self._next, self._next + 1
                if number >= total:
                    return
                due = began + number / rate
                time.sleep(max(0.0, due - time.monotonic()))
                try:
                    visitor.fetch(self._targets[number % len(self._targets)])
                except RuntimeError:
                    self._times.append(REFUSED)
                else:
                    self._times.append((time.monotonic() - due) * 1_000)
        except Exception as error:
            self._errors.append(error)
        finally:
            visitor.close()
