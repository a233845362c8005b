"""What a worker was told to do: to drain, or to stop now."""

from __future__ import annotations

import threading
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Literal

from ferryman.worker.signals import on_signals

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

Order = Literal["drain", "now"]


class Orders:
    """Orders in the order they came; the first of them means to stop.

    Signal handlers only `put`, which is safe inside them. An Event is not, because a handler
    interrupts the very thread that may be holding its lock.
    """

    def __init__(self) -> None:
        self._said: SimpleQueue[Order] = SimpleQueue()
        self._stopping = threading.Event()

    @property
    def stopping(self) -> bool:
        return self._stopping.is_set()

    def stop(self) -> None:
        """Order a drain, from any thread."""
        self._stopping.set()
        self._said.put("drain")

    def next(self, timeout: float) -> Order | None:
        """The next order that comes within `timeout` seconds."""
        try:
            order = self._said.get(timeout=timeout)
        except Empty:
            return None
        self._stopping.set()
        return order

    def by_signals(self) -> AbstractContextManager[None]:
        """While the block runs, the first SIGTERM or SIGINT drains, and the second stops now."""
        return on_signals(partial(self._said.put, "drain"), partial(self._said.put, "now"))
