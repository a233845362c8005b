"""The server's time, learnt from its answers: machines may disagree, leases must not."""

from __future__ import annotations

import math
from email.utils import parsedate_to_datetime
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ferryman.clock import Clock

# Quartz is good to some ten parts in a million; what was learnt goes stale at this rate.
_DRIFT: Final = 1e-4


class ServerClock:
    """A `ferryman.clock.Clock` that tells the server's time once an answer was heard.

    Each `Date` header bounds the server's lead over our monotonic clock from both sides; the
    bounds of many answers together are far narrower than the second that one header counts.
    `now` is the lower bound, so that nothing is due too early. Before the first answer it is the
    local time. Steps of the local wall clock do not matter.
    """

    def __init__(self, local: Clock) -> None:
        self._local = local
        self._lock = Lock()
        self._low = -math.inf
        self._high = math.inf
        self._heard_at = 0.0

    def now(self) -> float:
        """Seconds since the epoch by the server's clock."""
        with self._lock:
            low = self._low
        return self._local.now() if low == -math.inf else self._local.monotonic() + low

    def monotonic(self) -> float:
        return self._local.monotonic()

    @property
    def heard(self) -> bool:
        """Whether the server has told its time yet."""
        with self._lock:
            return self._low != -math.inf

    @property
    def doubt(self) -> float:
        """Seconds by which the server's time may be ahead of `now`; 0 before the first answer."""
        with self._lock:
            return 0.0 if self._low == -math.inf else self._high - self._low

    @property
    def skew(self) -> float:
        """Seconds by which the server is ahead of this machine's wall clock."""
        return self.now() - self._local.now()

    def bounds(self) -> tuple[float, float, float] | None:
        """Lowest and highest lead of the server over our monotonic clock, and when it was heard."""
        with self._lock:
            heard = self._low != -math.inf
            return (self._low, self._high, self._heard_at) if heard else None

    def learn(self, low: float, high: float, heard_at: float) -> None:
        """Take over what another process of this machine has heard, by the same monotonic clock."""
        with self._lock:
            if self._low == -math.inf:
                self._low, self._high, self._heard_at = low, high, heard_at
                return
            drift = abs(self._heard_at - heard_at) * _DRIFT
            together = max(low - drift, self._low), min(high + drift, self._high)
            if together[0] <= together[1]:
                self._low, self._high = together

    def hear(self, date: str | None, sent: float, received: float) -> None:
        """Take in one answer's `Date`; `sent` and `received` are monotonic seconds around it."""
        stamp = _seconds(date)
        if stamp is None:
            return
        # The header was written between the two moments and drops the fraction of its second.
        low, high = stamp - received, stamp + 1.0 - sent
        with self._lock:
            stale = (received - self._heard_at) * _DRIFT if self._low != -math.inf else 0.0
            together = max(low, self._low - stale), min(high, self._high + stale)
            # Apart: the server's clock was set, or another server answers now. The newest is right.
            self._low, self._high = together if together[0] <= together[1] else (low, high)
            self._heard_at = received


@lru_cache(maxsize=8)  # for a second every answer says the same
def _seconds(date: str | None) -> float | None:
    if not date:
        return None
    try:
        return parsedate_to_datetime(date).timestamp()
    except ValueError:
        return None
