"""Time, injectable: wall time for records, monotonic time for trust."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Where a store and a worker read the time.

    `now` is seconds since the epoch (UTC) and may step; only records use it.
    `monotonic` never steps back and counts while the machine sleeps; deadlines use it.
    """

    def now(self) -> float: ...

    def monotonic(self) -> float: ...


class SystemClock:
    """The machine's own clocks."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.clock_gettime(_STEADY)


# CLOCK_MONOTONIC stands still while a laptop sleeps, and a lease must not.
_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
