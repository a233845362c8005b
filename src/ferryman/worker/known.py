"""What a worker tells others about its tasks: which it knows, and what holds their jobs back."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferryman.flow.capacity import Capacities
    from ferryman.flow.flow import Flow
    from ferryman.tasks.limits import Limits
    from ferryman.tasks.task import Task
    from ferryman.tasks.tasks import Tasks


@dataclass(frozen=True, slots=True)
class Hold:
    """What jobs of a task, or of a queue, have to pass before they are claimed.

    `needs` are breakers, `rate` is a rate's name, `concurrency` the leases that may live at once.
    `feeds` are the queues that must not be full, each with its capacity.
    """

    needs: tuple[str, ...] = ()
    rate: str | None = None
    concurrency: int | None = None
    feeds: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, value: object) -> Hold:
        """Of a row of this or another version; what cannot be read is left out."""
        row = value if isinstance(value, dict) else {}
        needs, rate, feeds = row.get("needs"), row.get("rate"), row.get("feeds")
        concurrency = row.get("concurrency")
        return cls(
            needs=tuple(map(str, needs)) if isinstance(needs, list) else (),
            rate=rate if isinstance(rate, str) else None,
            concurrency=concurrency if isinstance(concurrency, int) else None,
            feeds={str(queue): n for queue, n in feeds.items() if isinstance(n, int)}
            if isinstance(feeds, dict)
            else {},
        )


NO_HOLD = Hold()


def of_task(task: str) -> str:
    """The name under which the limits of a task are kept."""
    return f"task:{task}"


def of_queue(queue: str) -> str:
    """The name under which the limits of a queue are kept."""
    return f"queue:{queue}"


def known(tasks: Tasks, flow: Flow | None, capacities: Capacities | None) -> Mapping[str, Any]:
    """The part of a worker's row from which others can tell why a job does not start."""
    holds = {of_task(task.name): _of_task(task, tasks, capacities) for task in tasks}
    for queue, limits in ({} if flow is None else flow.queues).items():
        holds[of_queue(queue)] = _hold(of_queue(queue), limits, {})
    return {
        "tasks": {task.name: task.version for task in tasks},
        "holds": {owner: asdict(hold) for owner, hold in holds.items() if hold != NO_HOLD},
    }


def _of_task(task: Task[..., Any], tasks: Tasks, capacities: Capacities | None) -> Hold:
    passage = tasks.passage
    fed = {*task.feeds, *(() if passage is None else passage.feeds(task.name))}
    bounds = {} if capacities is None else {queue: capacities.capacity(queue) for queue in fed}
    feeds = {queue: bound for queue, bound in sorted(bounds.items()) if bound is not None}
    return _hold(of_task(task.name), task.limits, feeds)


def _hold(owner: str, limits: Limits, feeds: Mapping[str, int]) -> Hold:
    return Hold(
        needs=limits.needs,
        rate=limits.rate or (owner if limits.quotas else None),
        # With `per` there is a line for each value, and claims wait in it.
        concurrency=limits.concurrency if limits.per is None else None,
        feeds=feeds,
    )
