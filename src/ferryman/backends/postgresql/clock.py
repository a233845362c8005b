"""The server's time on this side, learnt from its answers: machines may disagree."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ferryman.clock import Clock

# Quartz is good to some ten parts in a million; what was learnt goes stale at this rate.
_DRIFT: Final = 1e-4
_STEP: Final = 0.5


class ServerClock:
    """A `ferryman.clock.Clock` that tells the server's time, never ahead of it.

    Only for what is shown and for how long to sleep: what is written is dated by the server.
    """

    def __init__(self, local: Clock) -> None:
        self._local = local
        self._lock = Lock()
        self._lead: float | None = None
        self._heard_at = 0.0

    def now(self) -> float:
        """Seconds since the epoch; the local time until the server has told its own."""
        with self._lock:
            lead, heard_at = self._lead, self._heard_at
        if lead is None:
            return self._local.now()
        here = self._local.monotonic()
        return here + lead - _DRIFT * (here - heard_at)

    def monotonic(self) -> float:
        return self._local.monotonic()

    def after_fork(self) -> None:
        """In a child, where the thread that held the lock may not exist."""
        self._lock = Lock()

    def hear(self, moment: float) -> None:
        """Take over what the server said; it was that late at least when the answer arrived."""
        here = self._local.monotonic()
        with self._lock:
            lead = moment - here
            known = self._lead
            if known is not None:
                aged = known - _DRIFT * (here - self._heard_at)
                # A much smaller lead is a server whose clock was set back, not a slow answer.
                lead = lead if lead < aged - _STEP else max(lead, aged)
            self._lead, self._heard_at = lead, here
