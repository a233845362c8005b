"""A message that is pushed again and again, once for each of its slots."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from ferryman.errors import InvalidMessage
from ferryman.flow.slots import Slots
from ferryman.message import MAX_NAME, Message, check_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Missed = Literal["skip", "latest", "all"]

ON_TIME: Final = 60.0
"""Seconds after which a slot that nobody pushed counts as missed."""
AT_ONCE: Final = 100
"""Slots that are pushed in one call."""

# What a schedule decides itself.
_NOT_FOR_SCHEDULES: Final = ("id", "delay", "ready_at", "replace")


@dataclass(frozen=True, slots=True)
class Schedule:
    """What is pushed, and when. `missed` decides about slots found over a minute late.

    `skip` leaves them out, `latest` pushes the last one unless a later slot is on time, and `all`
    pushes each of them.
    """

    name: str
    slots: Slots
    message: Message
    missed: Missed = "latest"

    def __post_init__(self) -> None:
        check_name("schedule", self.name, MAX_NAME)
        if self.missed not in get_args(Missed):
            choices = ", ".join(get_args(Missed))
            raise InvalidMessage("missed", f"{self.missed!r} is unknown: use {choices}")
        plain = Message(queue=self.message.queue, task=self.message.task)
        for name in _NOT_FOR_SCHEDULES[1:]:
            if getattr(self.message, name) != getattr(plain, name):
                raise InvalidMessage(name, "is not for schedules: each slot is a job of its own")
        self.job(0.0)

    def due(self, last: float, now: float) -> Sequence[float]:
        """The slots to push now, of those later than `last`; at most `AT_ONCE`, oldest first.

        All slots before the last of them are settled with it.
        """
        late = now - ON_TIME
        if self.missed == "all":
            return list(islice(self.slots.between(last, now), AT_ONCE))
        on_time = list(islice(self.slots.between(max(last, late), now), AT_ONCE))
        if on_time or self.missed == "skip":
            return on_time
        latest = self.slots.latest(last, late)
        return [] if latest is None else [latest]

    def job(self, slot: float) -> Message:
        """The message of one slot: whoever makes it, its id is the same."""
        when = iso(slot)
        meta = {**self.message.meta, "schedule": self.name, "slot": when}
        return replace(self.message, id=f"schedule:{self.name}:{when}", ready_at=slot, meta=meta)

    def described(self) -> dict[str, Any]:
        """Plain JSON that `read` understands."""
        slots, message = self.slots, self.message
        return {
            "cron": slots.cron,
            "every": slots.every,
            "tz": slots.tz,
            "missed": self.missed,
            "message": {
                field.name: getattr(message, field.name)
                for field in fields(message)
                if field.name not in _NOT_FOR_SCHEDULES
            },
        }

    @classmethod
    def read(cls, name: str, described: Mapping[str, Any]) -> Schedule:
        """The schedule that was `described`."""
        slots = Slots(described["cron"], described["every"], described["tz"])
        return cls(name, slots, Message(**described["message"]), described["missed"])


def iso(moment: float) -> str:
    """A moment as text, to the second, in UTC."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
