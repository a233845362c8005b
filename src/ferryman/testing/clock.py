"""Time under a test's control."""

from __future__ import annotations

from threading import Lock


class FakeClock:
    """A `ferryman.clock.Clock` that moves only when told to; safe to share between threads."""

    def __init__(self, start: float = 1_800_000_000.0) -> None:
        self._lock = Lock()
        self._now = start
        self._monotonic = 1_000.0

    def now(self) -> float:
        """Seconds since the epoch, as set by the test."""
        with self._lock:
            return self._now

    def monotonic(self) -> float:
        """Seconds that never step back; `step` leaves them alone."""
        with self._lock:
            return self._monotonic

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass: both times move on."""
        if seconds < 0:
            raise ValueError(
                f"time passes forwards, got {seconds} s: use step to set the wall time"
            )
        with self._lock:
            self._now += seconds
            self._monotonic += seconds

    def step(self, seconds: float) -> None:
        """Set the wall time forwards or back by `seconds`, as an administrator or NTP does."""
        with self._lock:
            self._now += seconds
