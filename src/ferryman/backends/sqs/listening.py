"""Long polls, in threads of their own: a request that waits cannot be called back."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

from ferryman.backends.sqs.calls import LONG
from ferryman.backends.sqs.queues import HOLD
from ferryman.errors import BackendError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ferryman.backends.sqs.calls import Calls, Delivery
    from ferryman.backends.sqs.queues import Queues

_AFTER_FAILURE: Final = 1.0


class Listening:
    """While somebody waits, one request for each SQS queue waits with him.

    It takes a single message: the poll that follows knows how many more there is room for.
    """

    def __init__(
        self, calls: Calls, queues: Queues, heard: Callable[[Delivery], None], hold: int = HOLD
    ) -> None:
        self._calls = calls
        self._queues = queues
        self._heard = heard
        self._hold = hold
        self._lock = threading.Lock()
        self._under_way: set[str] = set()
        self._rest: dict[str, float] = {}
        self._closed = False

    def ask(self, queues: Collection[str]) -> None:
        """See that a request is under way for each; `heard` is called in another thread."""
        for queue in queues:
            for place in self._queues.places(queue):
                if self._begin(place):
                    threading.Thread(
                        target=self._listen,
                        args=(place, queue),
                        name="ferryman-sqs-listening",
                        daemon=True,
                    ).start()

    def close(self) -> None:
        """Begin no more; those under way end by themselves."""
        self._closed = True

    def _begin(self, place: str) -> bool:
        with self._lock:
            resting = time.monotonic() < self._rest.get(place, 0.0)
            if self._closed or resting or place in self._under_way:
                return False
            self._under_way.add(place)
            return True

    def _listen(self, place: str, queue: str) -> None:
        try:
            for one in self._calls.receive(place, queue, 1, hold=self._hold, wait=LONG):
                if self._closed:
                    self._calls.hide([one], [0])
                    self._calls.close()
                else:
                    self._heard(one)
        except BackendError:
            # The next poll meets the same and says so; here it must not be tried without end.
            self._rest[place] = time.monotonic() + _AFTER_FAILURE
        finally:
            with self._lock:
                self._under_way.discard(place)
