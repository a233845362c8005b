"""wait: a worker sleeps until there is something to claim, whoever pushed it."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ferryman.backends.bell import Ear
from ferryman.backends.sqlite.eye import eye_on
from ferryman.backends.sqlite.poll import claimable
from ferryman.errors import BackendRejected

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ferryman.backends.bell import Listener
    from ferryman.backends.inotify import Eye
    from ferryman.backends.sqlite.connection import Database
    from ferryman.clock import Clock


@dataclass(frozen=True, slots=True)
class Pace:
    """How long to sleep between two looks, in seconds: from `first`, growing to `longest`."""

    first: float
    longest: float
    growth: float


# With an eye a sleep ends when the log is written. That is a moment before the commit can be seen,
# so the looks that follow are close together; the longest sleep is only a net below that.
SEEING: Final = Pace(first=0.001, longest=0.5, growth=1.6)
# Without, another process's commit is seen after at most the longest sleep. To sleep and look costs
# 100 to 200 µs of a core whose caches have gone cold: in the long run well under one percent.
BLIND: Final = Pace(first=0.01, longest=0.03, growth=1.2)


class Watch:
    """Wakes by a bell for this process's commits, and by an eye on the log for those of others."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._wakes = 0
        self._eyes: list[Eye] = []

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
            with self._eye() as eye:
                pace, listener = (BLIND, Ear()) if eye is None else (SEEING, eye)
                with self._database.bell.heard_by(listener):
                    return self._wait(queues, until, listener, pace)
        except BackendRejected:
            if self._database.closed:
                return False
            raise

    def close(self) -> None:
        """Free the eyes that nobody uses."""
        while self._eyes:
            self._eyes.pop().close()

    def _wait(self, queues: Collection[str], until: float, listener: Listener, pace: Pace) -> bool:
        version, due, wakes, pause = -1, None, self._wakes, pace.first
        while True:
            seen, version = version, self._data_version()
            if version != seen or (due is not None and due <= self._clock.now()):
                found, due = self._look(queues)
                if found:
                    return True
            left = until - time.monotonic()
            if left <= 0 or self._wakes != wakes:
                return False
            happened = listener.sleep(min(left, pause, self._until_due(due)))
            pause = pace.first if happened else min(pause * pace.growth, pace.longest)
            self._database.check_file()

    def _until_due(self, due: float | None) -> float:
        return 1.0 if due is None else max(0.001, due - self._clock.now())

    @contextlib.contextmanager
    def _eye(self) -> Iterator[Eye | None]:
        """An eye for one wait; they are kept, because to make one takes several system calls."""
        try:
            eye: Eye | None = self._eyes.pop()
        except IndexError:
            eye = None
        if eye is None or eye.pid != os.getpid():  # a parent's events are its own
            eye = eye_on(self._database.path)
        try:
            yield eye
        finally:
            if eye is not None:
                self._eyes.append(eye)
                if self._database.closed:
                    self.close()

    def _data_version(self) -> int:
        """A number that changes whenever another connection has committed."""
        with self._database.watching() as connection:
            (version,) = connection.execute("PRAGMA data_version").fetchone()
            return int(version)

    def _look(self, queues: Collection[str]) -> tuple[set[str], float | None]:
        with self._database.watching() as connection:
            return claimable(connection, queues, self._clock.now())
