"""Messages that were received and whose jobs nobody here has claimed yet."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from ferryman.backends.sqs.calls import Delivery

# A message that others are about to see is no longer ours to act on.
_MARGIN: Final = 5.0


class Inbox:
    """Holds deliveries by queue, each until SQS shows it to others again.

    Those set aside were passed over by a poll, and are no news to whoever waits.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._new: dict[str, list[Delivery]] = {}
        self._aside: dict[str, list[Delivery]] = {}

    def put(self, deliveries: Iterable[Delivery], *, aside: bool = False) -> None:
        with self._lock:
            for one in deliveries:
                (self._aside if aside else self._new).setdefault(one.queue, []).append(one)

    def take(self, queue: str, limit: int) -> Sequence[Delivery]:
        """The first that are still ours; they are the caller's now."""
        with self._lock:
            live = _live(self._new.pop(queue, ())) + _live(self._aside.pop(queue, ()))
            self._aside[queue] = live[limit:]
            return live[:limit]

    def news(self, queues: Collection[str]) -> Sequence[Delivery]:
        """What has come for these queues and was not looked at yet; it is the caller's now."""
        with self._lock:
            return [one for queue in queues for one in _live(self._new.pop(queue, ()))]

    def has_news(self, queues: Collection[str]) -> bool:
        """Whether something has come for these queues."""
        with self._lock:
            return any(_live(self._new.get(queue, ())) for queue in queues)

    def empty(self) -> Sequence[Delivery]:
        """Take all."""
        with self._lock:
            held = [*self._new.values(), *self._aside.values()]
            self._new, self._aside = {}, {}
        return [one for queue in held for one in queue]


def _live(deliveries: Iterable[Delivery]) -> list[Delivery]:
    now = time.monotonic() + _MARGIN
    return [one for one in deliveries if one.until > now]
