"""How often one may ask: a bucket for each name, which fills again with time."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman.tasks.limits import Quota

MOST_NAMES: Final = 10_000


class Pace:
    """At most `burst` at once and `rate` a second over time, for each name; in this process.

    A name with a `quota` of its own has that instead: all of it at once, or evenly over its period.
    """

    def __init__(
        self, rate: float, burst: int, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate = rate
        self._burst = burst
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str, quota: Quota | None = None) -> float:
        """Spend one; 0, or the seconds until there is one again."""
        rate, burst = self._rate, self._burst
        if quota is not None:
            rate, burst = quota.count / quota.seconds, quota.count
        now = self._monotonic()
        with self._lock:
            left, at = self._buckets.pop(name, (float(burst), now))
            left = min(burst, left + (now - at) * rate)
            missing = 1.0 - left
            self._buckets[name] = (left if missing > 0 else left - 1.0, now)
            while len(self._buckets) > MOST_NAMES:
                self._buckets.popitem(last=False)
        return max(0.0, missing / rate)
