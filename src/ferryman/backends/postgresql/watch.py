"""wait: a worker sleeps until there is something to claim, whoever pushed it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from ferryman.backends.bell import Ear
from ferryman.backends.postgresql.listener import Listener
from ferryman.errors import BackendRejected

if TYPE_CHECKING:
    from collections.abc import Collection

    from ferryman.backends.postgresql.connection import Database

# The longest sleep between two looks, in seconds: with a listener it is only a net. Without one it
# is how late another process's push may be seen; it is short at first, where work is under way.
_HEARING: Final = 1.0
_DEAF: Final = 0.25
_FIRST: Final = 0.02
_GROWTH: Final = 1.3
# An injected clock moves without a sound.
_SHORT: Final = 0.01


class Watch:
    """Wakes by a bell for this process's commits, and by announcements for those of others."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._listener = Listener(database)
        self._wakes = 0

    def wake(self) -> None:
        """End every `wait` that is under way in this process."""
        self._wakes += 1
        self._database.bell.ring()

    def wait(self, queues: Collection[str], timeout: float) -> bool:
        """Whether one of the queues got a job to claim within `timeout` seconds of real time."""
        until = time.monotonic() + timeout
        ear = Ear()
        wakes = self._wakes
        try:
            if timeout > 0 and self._database.location.listen:
                self._listener.start(timeout)
            with self._database.bell.heard_by(ear):
                return self._wait(list(queues), until, ear, wakes)
        except BackendRejected:
            if self._database.closed:
                return False
            raise

    @property
    def hears(self) -> bool | None:
        """Whether announcements arrive; None if nobody has listened for them."""
        return self._listener.hears if self._listener.tried else None

    def close(self) -> None:
        self._listener.close()

    def _wait(self, queues: list[str], until: float, ear: Ear, wakes: int) -> bool:
        pause = _FIRST
        while True:
            heard = self._heard(queues)
            found, due = self._look(queues)
            if found:
                return True
            left = until - time.monotonic()
            if left <= 0 or self._wakes != wakes:
                return False
            ear.sleep(min(left, self._pause(due, pause)))
            pause = min(_DEAF, pause * _GROWTH)
            if self._wakes != wakes:
                return False
            if self._heard(queues) != heard:
                # Whoever claims looks for himself; to look here first would only be late.
                return True

    def _heard(self, queues: list[str]) -> list[int]:
        news = self._database.news
        return [news[queue] for queue in queues]

    def _look(self, queues: list[str]) -> tuple[bool, float | None]:
        values = {"queues": queues, "now": self._database.given_now}
        [(ready, due)] = self._database.read("ahead", values)
        return ready or (due is not None and due <= 0), due

    def _pause(self, due: float | None, deaf: float) -> float:
        net = _HEARING if self._listener.hears else deaf
        if due is None:
            return net
        if self._database.given_now is not None:
            return _SHORT
        return min(net, max(0.001, due))
