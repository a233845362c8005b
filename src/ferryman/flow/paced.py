"""What an app declares about the pace of its work."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from ferryman.errors import InvalidMessage, TaskError
from ferryman.flow.circuit import Terms
from ferryman.flow.schedule import Schedule
from ferryman.flow.slots import Slots
from ferryman.queue.capacity import Limit
from ferryman.tasks.limits import Limits
from ferryman.tasks.options import seconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferryman.flow.breakers import Breaker
    from ferryman.flow.capacity import Capacities
    from ferryman.flow.flow import Flow
    from ferryman.flow.rates import Rate
    from ferryman.flow.schedule import Missed
    from ferryman.message import Message
    from ferryman.tasks.options import Seconds
    from ferryman.tasks.task import Task


class Paced(ABC):
    """The part of a Ferry that declares breakers, rates, limits of queues and schedules."""

    flow: Flow
    capacities: Capacities
    schedules: dict[str, Schedule]

    @abstractmethod
    def message(self, task: str, payload: Any, options: Mapping[str, Any]) -> Message:
        """What `push` would hand over, checked."""

    def breaker(
        self,
        name: str,
        *,
        threshold: int | None = None,
        cooldown: Seconds | None = None,
        probes: int | None = None,
        failures: tuple[type[BaseException], ...] | None = None,
        local: bool = False,
    ) -> Breaker:
        """The breaker of a dependency; options declare how it shall be.

        `threshold` (5) failures in a row open it for `cooldown` (300) seconds; then at most
        `probes` (3) calls at a time try whether it works again. `failures` are the exceptions that
        count, by default all. `local`: of this process alone, for stores without cells.
        """
        breaker = self.flow.breaker(name)
        if local or (threshold, cooldown, probes, failures) != (None,) * 4:
            terms = Terms(
                5 if threshold is None else threshold,
                300.0 if cooldown is None else seconds("cooldown", cooldown),
                3 if probes is None else probes,
            )
            breaker.declare(terms, failures or (Exception,), local=local)
        return breaker

    def rate(self, name: str, quotas: str | Sequence[str] = (), *, zone: str = "UTC") -> Rate:
        """The rate of this name; `quotas` (`"15/m"`, or a list) declare it.

        A period slides; a day (`"500/d"`) is one of the calendar in `zone`, such as
        `America/Los_Angeles`.
        """
        if quotas:
            self.flow.declare_rate(name, quotas, zone)
        return self.flow.rate(name)

    def limit(
        self,
        queue: str,
        *,
        rate: str | Sequence[str] = (),
        concurrency: int | None = None,
        capacity: int | None = None,
        tenant_capacity: int | None = None,
        warn_depth: int | None = None,
    ) -> None:
        """Bound a queue, whatever the tasks of its jobs.

        `rate` is how often they may start, `concurrency` how many run at once, over all workers. A
        push through this Ferry to a queue that holds `capacity` pending jobs raises `QueueFull` and
        writes nothing there; `tenant_capacity` bounds those of each tenant in the same way.
        Hand-overs, retries and slots of schedules are never refused. When `warn_depth` is reached,
        `queue.deep` is emitted once, and again only after the queue fell below 90 % of it.
        """
        if rate or concurrency is not None:
            self.flow.limit_queue(queue, Limits.of(rate=rate, concurrency=concurrency))
        if (capacity, tenant_capacity, warn_depth) != (None,) * 3:
            self.capacities.declare(queue, Limit(capacity, tenant_capacity), warn_depth)

    def schedule(
        self,
        name: str,
        task: str | Task[..., Any],
        payload: Any = None,
        *,
        cron: str | None = None,
        every: Seconds | None = None,
        tz: str = "UTC",
        missed: Missed = "latest",
        **options: Any,
    ) -> None:
        """Let workers of this Ferry push a job at every slot, each slot once.

        `cron` has five fields and is read in the time zone `tz`; `every` is whole seconds or a
        timedelta. `missed` decides about slots found over a minute late: `skip`, only the `latest`,
        or `all`. Options are those of `push`, all but `id`, `delay`, `at` and `replace`.
        """
        if name in self.schedules:
            raise TaskError(f"two schedules are named {name!r}: give one of them another name")
        if "id" in options:
            raise InvalidMessage("id", "is not for schedules: each slot is a job of its own")
        known = task if isinstance(task, str) else task.name
        message = self.message(known, payload, options)
        self.schedules[name] = Schedule(name, Slots.of(cron, every, tz), message, missed)
