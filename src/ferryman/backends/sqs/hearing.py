"""wait without a ledger: a message that arrives while somebody waits is kept for his poll."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from ferryman.backends.bell import Bell, Ear
from ferryman.backends.sqs.listening import Listening

if TYPE_CHECKING:
    from collections.abc import Collection

    from ferryman.backends.sqs.calls import Calls, Delivery
    from ferryman.backends.sqs.inbox import Inbox
    from ferryman.backends.sqs.queues import Queues

_LOOK: Final = 1.0


class Hearing:
    """Wakes by messages; each was received, and so counts as an attempt, for the next poll."""

    def __init__(self, calls: Calls, queues: Queues, inbox: Inbox) -> None:
        self._inbox = inbox
        self._bell = Bell()
        self._wakes = 0
        self._listening = Listening(calls, queues, self._heard)

    def ring(self) -> None:
        """This process may have made something claimable."""
        self._bell.ring()

    def wake(self) -> None:
        """End every `wait` that is under way in this process."""
        self._wakes += 1
        self._bell.ring()

    def wait(self, queues: Collection[str], timeout: float) -> bool:
        """Whether a message came within `timeout` seconds."""
        until = time.monotonic() + timeout
        wakes, ear = self._wakes, Ear()
        with self._bell.heard_by(ear):
            while not self._inbox.has_news(queues):
                left = until - time.monotonic()
                if left <= 0 or self._wakes != wakes:
                    return False
                self._listening.ask(queues)
                ear.sleep(min(left, _LOOK))
            return True

    def close(self) -> None:
        self._listening.close()
        self.wake()

    def _heard(self, delivery: Delivery) -> None:
        self._inbox.put([delivery])
        self._bell.ring()
