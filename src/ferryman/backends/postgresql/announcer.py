"""Telling other processes of new jobs, at most so often, and never too late."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Told = Mapping[str, bool]
    """Queues to announce, and whether earlier pushes to them rely on it."""

# A commit that notifies holds a lock of the whole server, so a burst of pushes announces its first
# and its last: in between everybody is awake anyway.
INTERVAL: Final = 0.02
# As long as pushes come, one of them pays in passing; only what none has paid by now is left to us.
OVERDUE: Final = 1.5 * INTERVAL
# A thread is kept for the next burst: to start one takes longer than a push.
LINGER: Final = 1.0


class Announcer:
    """Allows one announcement for each queue and interval, and makes up for those not allowed.

    `tell` announces queues by itself; it is called in a thread of this object's own.
    """

    def __init__(self, tell: Callable[[Sequence[str]], object]) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._told: dict[str, float] = {}
        self._owed: set[str] = set()
        self._thread: threading.Thread | None = None

    def may_tell(self, queues: Iterable[str]) -> Told:
        """Those of the queues that a transaction may announce now; the others are owed."""
        now = time.monotonic()
        with self._lock:
            due = {
                queue: queue in self._owed
                for queue in queues
                if now - self._told.get(queue, -1.0) >= INTERVAL
            }
            self._told.update(dict.fromkeys(due, now))
            self._owed -= due.keys()
            return due

    def take_back(self, told: Told) -> None:
        """These were not announced after all: what others owed is owed again."""
        self.owe([queue for queue, owed in told.items() if owed])

    def owe(self, queues: Iterable[str]) -> None:
        """These were pushed to and not announced: see to it within an interval."""
        with self._lock:
            self._owed.update(queues)
            if not self._owed or self._thread is not None:
                return
            self._thread = threading.Thread(
                target=self._make_up, name="ferryman-announcer", daemon=True
            )
            self._thread.start()

    def settle_up(self) -> None:
        """Announce what is owed, now."""
        with self._lock:
            owed, self._owed = self._owed, set()
            self._told.update(dict.fromkeys(owed, time.monotonic()))
        if owed:
            self._tell(sorted(owed))

    def after_fork(self) -> None:
        """In a child, whose parent has the thread and pays its debts."""
        self._lock = threading.Lock()
        self._owed = set()
        self._thread = None

    def _make_up(self) -> None:
        busy_at = time.monotonic()
        while True:
            time.sleep(INTERVAL)
            now = time.monotonic()
            with self._lock:
                overdue = any(now - self._told.get(queue, 0.0) >= OVERDUE for queue in self._owed)
                if self._owed:
                    busy_at = now
                elif now - busy_at >= LINGER:
                    self._thread = None
                    return
            if overdue:
                self.settle_up()
