"""The SQS queues that stand for one of ours: found, or made where that is asked for."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Final

from ferryman.backends.sqs.names import Label, dead_name, sqs_name
from ferryman.errors import BackendRejected

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferryman.backends.sqs.calls import Calls
    from ferryman.backends.sqs.location import Location

HOLD: Final = 30
"""Seconds for which a received message is hidden until it is known what becomes of its job."""

MOST_RECEIVES: Final = 1_000
"""How often SQS lets a message be received before it sets it aside: its highest setting."""

_FORGET: Final = 14 * 86_400
_LOOK_AGAIN: Final = 30.0
_SETTINGS: Final[Mapping[str, str]] = {
    "MessageRetentionPeriod": str(_FORGET),
    "VisibilityTimeout": str(HOLD),
    "ReceiveMessageWaitTimeSeconds": "0",
}


class Queues:
    """Knows the URLs. Those for high and low priorities exist only where somebody needs them."""

    def __init__(self, calls: Calls, location: Location) -> None:
        self._calls = calls
        self._location = location
        self._known: dict[str, str] = {}
        self._missing: dict[str, float] = {}

    def place(self, queue: str, label: Label) -> str:
        """Where messages of this label are sent; a missing one is made, or refused by name."""
        name = sqs_name(self._location.prefix, queue, label)
        return self._known.get(name) or self._made(name, queue)

    def grave(self, queue: str) -> str:
        """Where messages go that failed for good."""
        name = dead_name(self._location.prefix, queue)
        return self._known.get(name) or self._made(name, None)

    def places(self, queue: str) -> Sequence[str]:
        """Where messages of a queue may lie, the most urgent first."""
        prefix = self._location.prefix
        found = [
            self.place(queue, label)
            if label is Label.NORMAL
            else self._found(sqs_name(prefix, queue, label))
            for label in Label
        ]
        return [place for place in found if place is not None]

    def make(self, queue: str) -> Sequence[str]:
        """Make all that a queue needs, and say what these are called."""
        names = [sqs_name(self._location.prefix, queue, label) for label in Label]
        for name in names:
            self._create(name, queue)
        if self._location.ledger is None:
            names.append(dead_name(self._location.prefix, queue))
        return names

    def listed(self) -> Sequence[tuple[str, bool, str]]:
        """All with our prefix: the name in it, whether it holds the failed ones, and its URL."""
        found = []
        for place in self._calls.listed(f"{self._location.prefix}_"):
            _, queue, *kind = place.rpartition("/")[2].split("_")
            found.append((queue, kind == ["failed"], place))
        return found

    def _made(self, name: str, queue: str | None) -> str:
        place = self._calls.find(name)
        if place is None and self._location.create:
            return self._create(name, queue)
        if place is None:
            raise BackendRejected(
                f"there is no SQS queue {name} in {self._location.region}: make it with `ferryman "
                "migrate --queue …`, or let first use make it with ?create=1"
            )
        self._known[name] = place
        return place

    def _create(self, name: str, queue: str | None) -> str:
        """Without a ledger SQS itself sets aside what no worker could even open."""
        settings = dict(_SETTINGS)
        if queue is not None and self._location.ledger is None:
            grave = self._create(dead_name(self._location.prefix, queue), None)
            policy = {
                "deadLetterTargetArn": self._calls.attributes(grave)["QueueArn"],
                "maxReceiveCount": MOST_RECEIVES,
            }
            settings["RedrivePolicy"] = json.dumps(policy)
        place = self._known[name] = self._calls.create(name, settings)
        return place

    def _found(self, name: str) -> str | None:
        if place := self._known.get(name):
            return place
        if time.monotonic() < self._missing.get(name, 0.0):
            return None
        found = self._calls.find(name)
        if found is None:
            self._missing[name] = time.monotonic() + _LOOK_AGAIN
        else:
            self._known[name] = found
        return found
