"""How long to wait for a store that does not answer."""

from __future__ import annotations

import random

FIRST = 0.1
LONGEST = 5.0


class Patience:
    """Pauses that double from 0.1 s to 5 s with jitter, until something succeeds."""

    def __init__(self) -> None:
        self._failures = 0

    def failed(self) -> float:
        """One more failure; how many seconds to wait now."""
        pause = min(LONGEST, FIRST * 2.0 ** min(self._failures, 10))
        self._failures += 1
        return pause * random.uniform(0.8, 1.2)  # noqa: S311

    def succeeded(self) -> None:
        self._failures = 0
