"""One thread at a time in long runs of quick calls, because two together take longer."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST: Final = 0.1
"""Seconds after which nobody waits any longer: a baton saves time, it protects nothing."""


class Baton:
    """Held during a poll's claims and a batch's ends, which a worker makes in two threads.

    Every call of the system lets go of the interpreter. Two threads that take it from each other
    at each call of a few microseconds spend more on that than on the calls. A thread enters it once
    at a time. `most` is how long one waits for it, in seconds.
    """

    def __init__(self, most: float = MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._mine = threading.local()

    @property
    def held(self) -> bool:
        """Whether this thread has it."""
        return getattr(self._mine, "lock", None) is not None

    def __enter__(self) -> None:
        lock = self._lock
        if lock.acquire(timeout=self._most):
            self._mine.lock = lock
        elif self._lock is lock:
            # Who has it takes long or is gone, as other threads are after a fork: for all who
            # come from now on there is another one.
            self._lock = threading.Lock()

    def __exit__(self, *_: object) -> None:
        if self.held:
            lock, self._mine.lock = self._mine.lock, None
            lock.release()

    @contextlib.contextmanager
    def let_go(self) -> Iterator[None]:
        """Let others work meanwhile: the disk is going to be waited for."""
        if not self.held:
            yield
            return
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()
