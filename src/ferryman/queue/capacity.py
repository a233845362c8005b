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
    """The most pending jobs that a queue may hold, and each of its tenants; None is no limit."""

    capacity: int | None = None
    tenant_capacity: int | None = None


Limits = Mapping[str, Limit]
"""By queue."""
NO_LIMITS: Final[Limits] = {}

Depth = Callable[[str, int, str | None], int]
"""How many pending jobs a queue has, or one tenant of it, counted up to a number."""
Full = Literal["full", "tenant full"]


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


class _Group:
    """Messages of a batch that share a limit, by their places in the batch."""

    def __init__(self, limit: int | None, queue: str, tenant: str | None, status: Full) -> None:
        self.limit = limit
        self.queue = queue
        self.tenant = tenant
        self.status = status
        self.messages: list[tuple[int, Message]] = []

    def overflow(
        self, depth: Depth, is_new: Callable[[Message], bool]
    ) -> Iterator[tuple[int, Full]]:
        """The new messages, all of them, if there is not room for each."""
        if self.limit is None:
            return
        room = self.limit - depth(self.queue, self.limit, self.tenant)
        if room >= len(self.messages):
            return
        new = [(place, message) for place, message in self.messages if is_new(message)]
        # Of several with one key in a batch, the first becomes a job.
        if len({(message.key is None, message.key or message.id) for _, message in new}) > room:
            yield from ((place, self.status) for place, _ in new)


def _refused(
    limits: Limits, messages: Sequence[Message], depth: Depth, is_new: Callable[[Message], bool]
) -> Iterator[tuple[int, Full]]:
    groups: dict[tuple[str, str | None], _Group] = {}
    for place, message in enumerate(messages):
        limit = limits.get(message.queue)
        if limit is None:
            continue
        queue, tenant = message.queue, message.tenant
        whole = groups.setdefault((queue, None), _Group(limit.capacity, queue, None, "full"))
        whole.messages.append((place, message))
        if tenant is not None:
            share = _Group(limit.tenant_capacity, queue, tenant, "tenant full")
            groups.setdefault((queue, tenant), share).messages.append((place, message))
    # Tenants first: where the queue is full too, that is what counts.
    for group in sorted(groups.values(), key=lambda group: group.tenant is None):
        yield from group.overflow(depth, is_new)
