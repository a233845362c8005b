"""wait: a worker sleeps until there is something to claim, whoever pushed it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from ferryman.backends.sqlite.poll import claimable
from ferryman.errors import BackendRejected

if TYPE_CHECKING:
    from collections.abc import Collection
    from threading import Lock

    from ferryman.backends.sqlite.connection import Database
    from ferryman.clock import Clock

# Another process's commit is seen after at most the longest pause. To sleep and look costs 100 to
# 200 µs of a core whose caches have gone cold meanwhile: in the long run well under one percent.
FIRST_PAUSE: Final = 0.01
LONGEST_PAUSE: Final = 0.03


class Watch:
    """Wakes by a bell for this process's commits, and by looking for those of others."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._wakes = 0

    def ring(self) -> None:
        """Tell this process's waiting threads that there may be something new."""
        self._database.bell.ring()

    def wake(self) -> None:
        """End every `wait` that is under way in this process."""
        self._wakes += 1
        self._database.bell.ring()

    def wait(self, queues: Collection[str], timeout: float) -> bool:
        """Whether one of the queues got a job to claim within `timeout` seconds of real time."""
        self._database.check_file()
        until = time.monotonic() + timeout
        try:
            with self._database.bell.listening() as listener:
                return self._wait(queues, until, listener)
        except BackendRejected:
            if self._database.closed:
                return False
            raise

    def _wait(self, queues: Collection[str], until: float, listener: Lock) -> bool:
        version, due, wakes, pause = -1, None, self._wakes, FIRST_PAUSE
        while True:
            seen, version = version, self._data_version()
            if version != seen or (due is not None and due <= self._clock.now()):
                found, due = self._look(queues)
                if found:
                    return True
            left = until - time.monotonic()
            if left <= 0 or self._wakes != wakes:
                return False
            listener.acquire(timeout=min(left, pause))
            pause = min(pause * 1.2, LONGEST_PAUSE)

    def _data_version(self) -> int:
        """A number that changes whenever another connection has committed."""
        with self._database.watching() as connection:
            (version,) = connection.execute("PRAGMA data_version").fetchone()
            return int(version)

    def _look(self, queues: Collection[str]) -> tuple[set[str], float | None]:
        with self._database.watching() as connection:
            return claimable(connection, queues, self._clock.now())
