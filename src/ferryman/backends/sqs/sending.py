"""push without a ledger: the message itself is the job."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, Final

from ferryman.backends.sqs.calls import Outgoing
from ferryman.backends.sqs.envelope import Envelope
from ferryman.backends.sqs.location import LONGEST_DELAY
from ferryman.backends.sqs.names import Label
from ferryman.errors import InvalidMessage, OutcomeUnknown, Unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.sqs.bodies import Bodies
    from ferryman.backends.sqs.calls import Calls
    from ferryman.backends.sqs.queues import Queues
    from ferryman.clock import Clock
    from ferryman.message import Message

LIMIT: Final = 1 << 20
"""Bytes of a message that SQS takes; queues that were made with less say so themselves."""

# With a place for them, bodies go there that a queue with the old limit would refuse.
_SMALL: Final = 240 * 1024


class Sending:
    """Sends whole messages, large bodies by reference."""

    def __init__(self, calls: Calls, queues: Queues, bodies: Bodies | None, clock: Clock) -> None:
        self._calls = calls
        self._queues = queues
        self._bodies = bodies
        self._clock = clock

    def send(self, messages: Sequence[Message]) -> None:
        """All, or an error: then those that were sent are there, and sending again adds more."""
        now = self._clock.now()
        for message in messages:
            _check(message, now)
        places = [self._queues.place(one.queue, Label.of(one.priority)) for one in messages]
        envelopes = [Envelope.of(message, now) for message in messages]
        outgoing = [
            Outgoing(place, text, ceil(max(0.0, envelope.ready_at - now)))
            for place, envelope, text in zip(places, envelopes, self._texts(envelopes), strict=True)
        ]
        failed = [error for error in self._calls.send(outgoing) if error is not None]
        if failed and len(failed) == len(outgoing):
            raise failed[0]
        if failed:
            raise OutcomeUnknown(
                f"{len(failed)} of {len(outgoing)} messages were not sent ({failed[0]}): push all "
                "of them again with the same ids; those that were sent may then run twice"
            )

    def _texts(self, envelopes: Sequence[Envelope]) -> Sequence[str]:
        """What to send of each, its body elsewhere if it is large."""
        texts = [envelope.write() for envelope in envelopes]
        if self._bodies is not None:
            large = [index for index, text in enumerate(texts) if len(text) > _SMALL]
            keys = self._calls.each(self._bodies.put, [envelopes[index].body for index in large])
            for index, key in zip(large, keys, strict=True):
                texts[index] = replace(envelopes[index], stored=key).write()
        for text in texts:
            if len(text) > LIMIT:
                raise InvalidMessage(
                    "payload",
                    f"makes a message of {len(text):,} bytes, SQS takes {LIMIT:,}: add "
                    "bodies=s3%3A%2F%2Fbucket to the URL, or a ledger=…",
                )
        return texts


def _check(message: Message, now: float) -> None:
    if message.key is not None or message.replace:
        option = "replace" if message.replace else "a key"
        raise without_ledger(f"{option} needs to know the other jobs")
    delay = message.delay if message.ready_at is None else message.ready_at - now
    if delay > LONGEST_DELAY:
        raise without_ledger(f"a delay of {delay:,.0f} s is over the {LONGEST_DELAY:,.0f} of SQS")


def without_ledger(what: str) -> Unsupported:
    """The refusal of what only a ledger makes possible."""
    return Unsupported(
        f"sqs without a ledger: {what}: add ledger= with the URL of a database (sqlite://, "
        "postgresql://), percent-encoded"
    )
