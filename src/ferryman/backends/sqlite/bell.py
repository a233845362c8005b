"""What wakes this process's waiting threads when one of them has written."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Bell:
    """Rings for every listener at once; a ring while a listener is busy is kept for it.

    A `Condition` makes a new lock for each sleep. A process that waits does so forty times
    a second, and what happens around those sleeps is all that it costs.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._listeners: set[threading.Lock] = set()

    @contextlib.contextmanager
    def listening(self) -> Iterator[threading.Lock]:
        """A lock that can be acquired once after each ring."""
        listener = threading.Lock()
        listener.acquire()
        with self.lock:
            self._listeners.add(listener)
        try:
            yield listener
        finally:
            with self.lock:
                self._listeners.discard(listener)

    def ring(self) -> None:
        with self.lock:
            for listener in self._listeners:
                # Released already: it has yet to hear the ring before.
                with contextlib.suppress(RuntimeError):
                    listener.release()
