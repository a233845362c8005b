"""Messages in our queues that other programs sent."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from ferryman.backends.sqs import notes
from ferryman.errors import InvalidMessage
from ferryman.queue.diagnosis import Trouble

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferryman.backends.sqs.calls import Calls, Delivery
    from ferryman.message import Message
    from ferryman.queue.contract import Backend

_REMEMBERED: Final = 100
_NOT_SOON: Final = 900


class Strangers:
    """Makes jobs of bare JSON where the URL names a task for it; the rest is set aside.

    Set aside means: left in SQS, hidden for a while, and shown among the troubles.
    """

    def __init__(self, calls: Calls, task: str | None) -> None:
        self._calls = calls
        self._task = task
        self._lock = threading.Lock()
        self._troubles: dict[str, Trouble] = {}

    def adopt(self, deliveries: Sequence[Delivery], ledger: Backend) -> Mapping[str, str]:
        """The ids of the jobs made of them, by the ids that SQS gave the messages."""
        now = ledger.clock.now()
        made: dict[str, Message] = {}
        for one in deliveries:
            try:
                made[one.message_id] = self._message(one)
            except InvalidMessage as refusal:
                self.set_aside(one, refusal, now)
        pushed = ledger.push(list(made.values()))
        return dict(zip(made, [answer.id for answer in pushed], strict=True))

    def troubles(self) -> Sequence[Trouble]:
        """What was set aside, as far as this process has met it."""
        with self._lock:
            return list(self._troubles.values())

    def _message(self, delivery: Delivery) -> Message:
        if self._task is None:
            raise self.refusal()
        return notes.adopt(delivery, self._task)

    def refusal(self) -> InvalidMessage:
        """Why a message of another program cannot be used."""
        return InvalidMessage(
            "body", "is no message of Ferryman's: add ?bare=task to accept plain JSON as jobs"
        )

    def set_aside(self, delivery: Delivery, refusal: InvalidMessage, now: float) -> None:
        """Leave a message in SQS, and let it be seen."""
        with self._lock:
            if len(self._troubles) < _REMEMBERED:
                trouble = Trouble(delivery.queue, delivery.message_id, str(refusal), now)
                self._troubles.setdefault(delivery.message_id, trouble)
        self._calls.hide([delivery], [_NOT_SOON])
