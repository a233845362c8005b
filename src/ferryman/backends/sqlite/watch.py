"""wait: a worker sleeps until there is something to claim, whoever pushed it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from ferryman.backends.sqlite.poll import claimable
from ferryman.errors import BackendRejected

if TYPE_CHECKING:
    from collections.abc import Collection

    from ferryman.backends.sqlite.connection import Database
    from ferryman.clock import Clock

# Another process's commit is seen after at most this long. To sleep and look costs some 80 µs of
# a core, most of it the sleep: half a percent at this pace.
TICK: Final = 0.02


class Watch:
    """Wakes by a bell for this process's commits, and by looking for those of others."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._rings = 0
        self._wakes = 0

    def ring(self) -> None:
        """Tell this process's waiting threads that there may be something new."""
        with self._database.bell:
            self._rings += 1
            self._database.bell.notify_all()

    def wake(self) -> None:
        """End every `wait` that is under way in this process."""
        with self._database.bell:
            self._rings += 1
            self._wakes += 1
            self._database.bell.notify_all()

    def wait(self, queues: Collection[str], timeout: float) -> bool:
        """Whether one of the queues got a job to claim within `timeout` seconds of real time."""
        self._database.check_file()
        try:
            return self._wait(queues, time.monotonic() + timeout)
        except BackendRejected:
            if self._database.closed:
                return False
            raise

    def _wait(self, queues: Collection[str], until: float) -> bool:
        version, due, wakes = -1, None, self._wakes
        while True:
            rings = self._rings
            seen, version = version, self._data_version()
            if version != seen or (due is not None and due <= self._clock.now()):
                found, due = self._look(queues)
                if found:
                    return True
            left = until - time.monotonic()
            if left <= 0 or self._wakes != wakes or self._database.closed:
                return False
            self._sleep(rings, min(left, TICK))

    def _sleep(self, rings: int, seconds: float) -> None:
        with self._database.bell:
            if self._rings == rings:
                self._database.bell.wait(seconds)

    def _data_version(self) -> int:
        with self._database.watching() as connection:
            (version,) = connection.execute("PRAGMA data_version").fetchone()
            return int(version)

    def _look(self, queues: Collection[str]) -> tuple[set[str], float | None]:
        with self._database.watching() as connection:
            return claimable(connection, queues, self._clock.now())
