"""When to ask the ledger itself, because no message may say so."""

from __future__ import annotations

import heapq
import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ferryman.queue.ledger import Notice

_MOST: Final = 10_000


class Agenda:
    """By queue: moments at which a job is known to be due, and when the ledger was last asked.

    Moments are seconds by the ledger's clock. What is forgotten here, because there is too much of
    it or because the process died, is found `look` seconds later at most.
    """

    def __init__(self, look: float) -> None:
        self._look = look
        self._lock = threading.Lock()
        self._due: dict[str, list[float]] = {}
        self._asked: dict[str, float] = {}
        self._expected: set[str] = set()
        self._restless: dict[str, float] = {}

    def add(self, notices: Iterable[Notice]) -> None:
        """Remember when these will be due."""
        with self._lock:
            for notice in notices:
                moments = self._due.setdefault(notice.queue, [])
                if len(moments) < _MOST:
                    heapq.heappush(moments, notice.ready_at)

    def expect(self, queues: Collection[str], until: float | None = None) -> None:
        """Ask next time, or until this moment each time: something may come unannounced."""
        with self._lock:
            self._expected.update(queues)
            if until is not None:
                for queue in queues:
                    self._restless[queue] = max(until, self._restless.get(queue, until))

    def expect_all(self) -> None:
        """Ask next time about every queue that was ever asked about."""
        with self._lock:
            self._expected.update(self._asked)

    def calls(self, queue: str, now: float) -> bool:
        """Whether it is time to ask the ledger about this queue."""
        with self._lock:
            moments, asked = self._due.get(queue), self._asked.get(queue)
            return (
                queue in self._expected
                or bool(moments and moments[0] <= now)
                or now <= self._restless.get(queue, -1.0)
                or asked is None
                or not asked <= now < asked + self._look
            )

    def asked(self, queue: str, now: float, seen: int | None = None) -> None:
        """The ledger was asked, and all that was due has been seen, or so many jobs of it."""
        with self._lock:
            moments = self._due.get(queue, [])
            left = len(moments) if seen is None else seen
            while moments and moments[0] <= now and left:
                heapq.heappop(moments)
                left -= 1
            self._expected.discard(queue)
            self._asked[queue] = now

    def next(self, queues: Collection[str], now: float) -> float:
        """Seconds until the ledger should be asked about one of these, at most `look`."""
        with self._lock:
            moments = [self._due[queue][0] for queue in queues if self._due.get(queue)]
        return max(0.001, min([self._look or 0.05, *(moment - now for moment in moments)]))
