"""What a Ferry knows about full queues: their limits, whom to refuse, when to warn."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ferryman.errors import QueueFull
from ferryman.message import MAX_NAME, check_int, check_name
from ferryman.queue.capacity import NO_LIMITS, Limit

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ferryman.events import Events
    from ferryman.message import Message
    from ferryman.queue.answers import Pushed
    from ferryman.queue.capacity import Limits
    from ferryman.queue.contract import Backend

MOST: Final = 1_000_000_000
FIRST_RETRY: Final = 1.0
LAST_RETRY: Final = 60.0
"""Seconds: `retry_after` doubles from the first to the last while a queue stays full."""
LOOK_EVERY: Final = 1.0
"""Seconds between two looks of one process at the depth of a queue."""
EASED: Final = 0.9
"""The part of a limit below which a queue that had reached it counts as eased."""
CELLS: Final = "deep/"


@dataclass(frozen=True, slots=True)
class Bounds:
    """What was declared for one queue."""

    limit: Limit
    warn_depth: int | None


class Capacities:
    """The limits of a Ferry's queues. Thread-safe."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self._lock = threading.Lock()
        self._bounds: dict[str, Bounds] = {}
        self._refusals: dict[tuple[str, str | None], int] = {}
        self._looked: dict[str, float] = {}
        self._deep: dict[str, bool] = {}

    def declare(self, queue: str, limit: Limit, warn_depth: int | None) -> None:
        check_name("queue", queue, MAX_NAME)
        numbers = {
            "capacity": limit.capacity,
            "tenant_capacity": limit.tenant_capacity,
            "warn_depth": warn_depth,
        }
        for name, number in numbers.items():
            if number is not None:
                check_int(name, number, 1, MOST)
        self._bounds[queue] = Bounds(limit, warn_depth)

    @property
    def any(self) -> bool:
        """Whether any queue has bounds: lets pushes skip all this."""
        return bool(self._bounds)

    def capacity(self, queue: str) -> int | None:
        """The most pending jobs of a queue; None for no limit."""
        bounds = self._bounds.get(queue)
        return None if bounds is None else bounds.limit.capacity

    def limits(self, messages: Sequence[Message]) -> Limits:
        """Those of the queues that these messages are for, where anything was declared."""
        if not self._bounds:
            return NO_LIMITS
        found = {message.queue: self._bounds.get(message.queue) for message in messages}
        return {queue: bounds.limit for queue, bounds in found.items() if bounds is not None}

    def refused(self, messages: Sequence[Message], pushed: Sequence[Pushed]) -> QueueFull | None:
        """The error to raise where messages found their queue full."""
        answers = zip(messages, pushed, strict=True)
        full = [(m, answer.status) for m, answer in answers if answer.status.endswith("full")]
        if not full:
            with self._lock:
                for message in messages:
                    self._refusals.pop((message.queue, None), None)
                    self._refusals.pop((message.queue, message.tenant), None)
            return None
        message, status = full[0]
        queue = message.queue
        limit = self._bounds[queue].limit
        tenant = message.tenant if status == "tenant full" else None
        capacity = limit.capacity if tenant is None else limit.tenant_capacity
        with self._lock:
            times = self._refusals.get((queue, tenant), 0)
            self._refusals[queue, tenant] = times + 1
        retry_after = min(LAST_RETRY, FIRST_RETRY * 2.0 ** min(times, 10))
        ids = tuple(each.id for each, _ in full)
        return QueueFull(queue, capacity or 0, retry_after, tenant=tenant, ids=ids)

    def watch(self, backend: Backend, queues: Collection[str] | None = None) -> None:
        """Warn of queues (all of them, or these) that have become deep: once in the whole store.

        `queue.deep` is emitted when a queue reaches its `warn_depth`, and again only after it fell
        below 90 % of that.
        """
        now = backend.clock.monotonic()
        for queue in [*self._bounds] if queues is None else queues:
            bounds = self._bounds.get(queue)
            if bounds is None or bounds.warn_depth is None:
                continue
            with self._lock:
                if now < self._looked.get(queue, float("-inf")) + LOOK_EVERY:
                    continue
                self._looked[queue] = now
            self._look(backend, queue, bounds.warn_depth)

    def _look(self, backend: Backend, queue: str, warn_depth: int) -> None:
        depth = backend.depth(queue, warn_depth)
        deep = self._deep.get(queue)
        if depth >= warn_depth and not deep:
            first = _first(backend, queue)
            self._deep[queue] = True
            if first:
                self._events.emit("queue.deep", queue=queue, depth=depth, warn_depth=warn_depth)
        elif depth < warn_depth * EASED and deep is not False:
            if backend.capabilities.cells:
                backend.write_cell(CELLS + queue, None, expect=None)
            self._deep[queue] = False


def _first(backend: Backend, queue: str) -> bool:
    """Whether nobody else has warned of this queue since it was last eased."""
    if not backend.capabilities.cells:
        return True
    return backend.write_cell(CELLS + queue, "deep", expect=0) is not None
