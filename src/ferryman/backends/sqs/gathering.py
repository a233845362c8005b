"""Receiving messages: the most urgent first, several requests at once where there are many."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from ferryman.backends.sqs.calls import BATCH
from ferryman.errors import BackendError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferryman.backends.sqs.calls import Calls, Delivery
    from ferryman.backends.sqs.inbox import Inbox
    from ferryman.backends.sqs.queues import Queues
    from ferryman.clock import Clock

# Fewer than there are threads: heartbeats and deletions must not wait for a long poll's requests.
_RECEIVERS: Final = 12
# Every so many seconds the least urgent line is looked at first, or it might wait for ever.
_TURN_ROUND: Final = 10.0


class Gathering:
    """Takes messages out of the inbox and out of SQS."""

    def __init__(self, calls: Calls, queues: Queues, inbox: Inbox, clock: Clock) -> None:
        self._calls = calls
        self._queues = queues
        self._inbox = inbox
        self._clock = clock
        self._turned: dict[str, float] = {}

    def gather(self, limits: Mapping[str, int], *, hold: int) -> Mapping[str, Sequence[Delivery]]:
        """At most so many messages of each queue, hidden from others for `hold` seconds.

        Fewer than asked for means that SQS had no more to give at this moment. Where a request
        fails, the inbox keeps what others have brought, for the next time.
        """
        found: dict[str, list[Delivery]] = {queue: [] for queue in limits}
        try:
            self._calls.each(lambda queue: self._one(queue, limits[queue], hold, found), limits)
        except BaseException:
            for deliveries in found.values():
                self._inbox.put(deliveries)
            raise
        return found

    def _one(
        self, queue: str, limit: int, hold: int, by_queue: Mapping[str, list[Delivery]]
    ) -> None:
        found = by_queue[queue]
        found += self._inbox.take(queue, limit)
        for place in self._in_order(queue):
            want = limit - len(found)
            if want <= 0:
                break
            first = self._calls.receive(place, queue, want, hold=hold)
            found += first
            # A full answer promises more: then several ask at once.
            if len(first) == BATCH < want:
                found += self._rush(place, queue, want - BATCH, hold)

    def _in_order(self, queue: str) -> Sequence[str]:
        places, now = self._queues.places(queue), self._clock.now()
        if len(places) > 1 and now >= self._turned.setdefault(queue, now) + _TURN_ROUND:
            self._turned[queue] = now
            return places[::-1]
        return places

    def _rush(self, place: str, queue: str, want: int, hold: int) -> Sequence[Delivery]:
        """Ask until there are as many, or an answer is not full, or a request fails.

        What was received is returned all the same: the next poll meets the failure again.
        """
        shares = deque(min(BATCH, want - start) for start in range(0, want, BATCH))
        found: list[Delivery] = []

        def ask(_: int) -> None:
            while (share := _next(shares)) is not None:
                try:
                    more = self._calls.receive(place, queue, share, hold=hold)
                except BackendError:
                    more = ()
                found.extend(more)
                if len(more) < share:
                    shares.clear()

        self._calls.each(ask, range(min(_RECEIVERS, len(shares))))
        return found


def _next(shares: deque[int]) -> int | None:
    """The next one, unless another thread was quicker."""
    try:
        return shares.popleft()
    except IndexError:
        return None
