"""How many jobs may wait in a queue, and which messages of a batch that refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from ferryman.queue.answers import Pushed

if TYPE_CHECKING:
    from ferryman.message import Message


@dataclass(frozen=True, slots=True)
class Limit:
    """The most pending jobs that a queue may hold; None is no limit."""

    capacity: int | None = None


Limits = Mapping[str, Limit]
"""By queue."""
NO_LIMITS: Final[Limits] = {}

Depth = Callable[[str, int], int]
"""How many pending jobs a queue has, counted up to a number."""


def push_within(
    limits: Limits,
    messages: Sequence[Message],
    push: Callable[[Sequence[Message]], Sequence[Pushed]],
    *,
    depth: Depth,
    is_new: Callable[[Message], bool],
) -> list[Pushed]:
    """`push` those messages that the limits allow; the answers for all of them.

    `is_new` tells whether a message would become a job of its own. How exact the limits are is the
    caller's: nobody may push between `depth` and `push`.
    """
    if not limits:
        return list(push(messages))
    refused = dict(_refused(limits, messages, depth, is_new))
    answers = iter(push([m for place, m in enumerate(messages) if place not in refused]))
    return [
        Pushed(message.id, refused[place]) if place in refused else next(answers)
        for place, message in enumerate(messages)
    ]


def _refused(
    limits: Limits, messages: Sequence[Message], depth: Depth, is_new: Callable[[Message], bool]
) -> Iterator[tuple[int, Literal["full"]]]:
    for queue, limit in limits.items():
        group = [(place, m) for place, m in enumerate(messages) if m.queue == queue]
        capacity = limit.capacity
        if not group or capacity is None:
            continue
        room = capacity - depth(queue, capacity)
        if room >= len(group):
            continue
        new = [(place, message) for place, message in group if is_new(message)]
        if len({message.id for _, message in new}) > room:
            yield from ((place, "full") for place, _ in new)
