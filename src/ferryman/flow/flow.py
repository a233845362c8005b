"""What an app declared about its dependencies: breakers, rates and the limits of its queues."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ferryman.errors import InvalidMessage, TaskError
from ferryman.flow.breakers import BREAKER_CELLS, Breaker
from ferryman.flow.lines import LINE_CELLS, Lines
from ferryman.flow.permits import PERMIT_CELLS, Permits
from ferryman.flow.rates import RATE_CELLS, Rate
from ferryman.flow.shared import Shared
from ferryman.flow.tally import Tally
from ferryman.message import MAX_NAME, check_name
from ferryman.tasks.limits import Quota

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ferryman.events import Events
    from ferryman.queue.contract import Backend
    from ferryman.tasks.limits import Limits

UTC = ZoneInfo("UTC")


class Flow:
    """Breakers and rates by name, and limits by queue. The store is opened at their first use."""

    def __init__(self, store: Callable[[], Backend], events: Events) -> None:
        self._store = store
        self._events = events
        self._lock = threading.Lock()
        self._breakers: dict[str, Breaker] = {}
        self._rates: dict[str, Rate] = {}
        self._queues: dict[str, Limits] = {}

    def breaker(self, name: str) -> Breaker:
        """The breaker of this name; it need not be declared."""
        with self._lock:
            known = self._breakers.get(name)
            if known is None:
                _check("breaker", name)
                value = Shared(self._store, BREAKER_CELLS + name, "declare it with local=True")
                known = Breaker(name, value, self._store, self._events)
                self._breakers[name] = known
            return known

    def rate(self, name: str) -> Rate:
        """The rate of this name; it is of use once it is declared."""
        with self._lock:
            known = self._rates.get(name)
            if known is None:
                _check("rate", name)
                value = Shared(self._store, RATE_CELLS + name, _ANOTHER_STORE)
                known = self._rates[name] = Rate(name, value, self._store)
            return known

    def declare_rate(self, name: str, quotas: Sequence[str] | str, zone: str) -> None:
        """Quotas that tasks share, or handlers take from."""
        texts = [quotas] if isinstance(quotas, str) else quotas
        parsed = tuple(Quota.parse(text) for text in texts)
        if not parsed:
            raise TaskError(f"rate {name!r} needs at least one quota, such as 15/m")
        self.rate(name).declare(Tally(parsed, _zone(zone)))

    def limit_queue(self, queue: str, limits: Limits) -> None:
        """Limits over all tasks of a queue; declared twice, they must be the same."""
        _check("queue", queue)
        with self._lock:
            if self._queues.setdefault(queue, limits) != limits:
                raise TaskError(f"the limits of queue {queue!r} are declared twice, differently")

    @property
    def queues(self) -> Mapping[str, Limits]:
        return self._queues

    def rate_of(self, owner: str, limits: Limits) -> Rate | None:
        """The declared rate that a task or queue names, or one of its own."""
        if limits.rate is not None:
            rate = self.rate(limits.rate)
        elif limits.quotas:
            rate = self.rate(owner)
            rate.declare(Tally(limits.quotas, UTC))
        else:
            return None
        rate.check()
        return rate

    def permits(self, owner: str, limit: int, worker: str) -> Permits:
        """One worker's part of the permits of a task or queue."""
        value = Shared(self._store, PERMIT_CELLS + owner, _ANOTHER_STORE)
        value.check()
        return Permits(limit, worker, value, self._store().clock)

    def lines(self, owner: str, limit: int, worker: str) -> Lines:
        """One worker's part of the lines of a task."""
        value = Shared(self._store, LINE_CELLS + owner, _ANOTHER_STORE)
        value.check()
        return Lines(limit, worker, value, self._store().clock)


_ANOTHER_STORE = "use another store, such as sqlite:// or postgresql://, or sqs:// with ledger="


def _check(field: str, name: str) -> None:
    try:
        check_name(field, name, MAX_NAME)
    except InvalidMessage as error:
        raise TaskError(str(error)) from None


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise TaskError(
            f"zone {name!r} is not known here: use a name such as UTC or America/Sao_Paulo "
            "(pip install tzdata brings them all)"
        ) from None
