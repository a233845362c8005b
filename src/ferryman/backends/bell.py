"""What wakes this process's waiting threads when one of them has written."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator


class Listener(Protocol):
    """Someone who sleeps until there may be news."""

    def ring(self) -> None:
        """End the sleep, or the next one if nobody sleeps."""
        ...

    def sleep(self, seconds: float) -> bool:
        """Whether something happened within that time."""
        ...


class Bell:
    """Rings for every listener at once."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._listeners: set[Listener] = set()

    @contextlib.contextmanager
    def heard_by(self, listener: Listener) -> Iterator[None]:
        """While the block runs, `listener` hears every ring."""
        with self.lock:
            self._listeners.add(listener)
        try:
            yield
        finally:
            with self.lock:
                self._listeners.discard(listener)

    def ring(self) -> None:
        with self.lock:
            for listener in self._listeners:
                listener.ring()


class Ear:
    """Hears the bell of its own process and nothing else.

    A `Condition` makes a new lock for each sleep. A process that waits does so forty times
    a second, and what happens around those sleeps is all that it costs.
    """

    def __init__(self) -> None:
        self._silence = threading.Lock()
        self._silence.acquire()

    def ring(self) -> None:
        # Released already: it has yet to hear the ring before.
        with contextlib.suppress(RuntimeError):
            self._silence.release()

    def sleep(self, seconds: float) -> bool:
        return self._silence.acquire(timeout=seconds)
