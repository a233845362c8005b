"""How long things took: counts by time, in buckets that grow with it."""

from __future__ import annotations

from math import frexp
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

UNIT: Final = 0.0001
"""Seconds below which all is alike."""
LAST: Final = 160
"""The last bucket: over a decade."""


class Histogram:
    """Four buckets for each doubling of the time: a quantile is right to about a tenth.

    Histograms of several workers add up, which their quantiles would not.
    """

    __slots__ = ("counts",)

    def __init__(self, counts: Mapping[int, int] | None = None) -> None:
        self.counts: dict[int, int] = dict(counts or {})

    def add(self, seconds: float, n: int = 1) -> None:
        """Count `n` times of that length; what a clock that was set back makes negative is 0."""
        part, power = frexp(seconds / UNIT)
        bucket = min(LAST, 4 * power + int(8 * part) - 4) if seconds > UNIT else 0
        self.counts[bucket] = self.counts.get(bucket, 0) + n

    def merge(self, other: Histogram) -> None:
        for bucket, n in other.counts.items():
            self.counts[bucket] = self.counts.get(bucket, 0) + n

    def quantile(self, share: float) -> float | None:
        """The time in seconds that `share` (0 to 1) of all took at most; None without any."""
        left = share * sum(self.counts.values())
        for bucket, n in sorted(self.counts.items()):
            if n >= left:
                low, high = _edge(bucket), _edge(bucket + 1)
                return low + (high - low) * left / n
            left -= n
        return None


def _edge(bucket: int) -> float:
    """Where a bucket begins."""
    power, step = divmod(bucket, 4)
    return UNIT * (4 + step) / 8 * 2.0**power if bucket else 0.0
