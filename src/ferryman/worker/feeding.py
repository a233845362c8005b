"""Keeps a worker from making work for queues that are full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ferryman.flow.capacity import EASED

if TYPE_CHECKING:
    from collections.abc import Collection

    from ferryman.flow.capacity import Capacities
    from ferryman.queue.contract import Backend
    from ferryman.tasks.task import Task
    from ferryman.tasks.tasks import Tasks

LOOK_EVERY: Final = 0.25
"""Seconds between two looks at the depth of a queue."""


class Feeding:
    """Says which tasks are not to be claimed: those that feed a queue which is full.

    A queue that was full is open again below 90 % of its capacity.
    """

    def __init__(self, backend: Backend, tasks: Tasks, capacities: Capacities | None) -> None:
        self._backend = backend
        self._tasks = tasks
        self._capacities = capacities
        self._full: dict[str, bool] = {}
        self._skipped: frozenset[str] = frozenset()
        self._next_look = 0.0

    def skipped(self) -> Collection[str]:
        """The tasks to skip now."""
        if self._capacities is None or not self._capacities.any:
            return ()
        now = self._backend.clock.monotonic()
        if now >= self._next_look:
            self._next_look = now + LOOK_EVERY
            self._skipped = self._look(self._capacities)
        return self._skipped

    def _look(self, capacities: Capacities) -> frozenset[str]:
        fed = {task.name: self._fed_by(task) for task in self._tasks}
        for queue in frozenset[str]().union(*fed.values()):
            capacity = capacities.capacity(queue)
            if capacity is not None:
                depth = self._backend.depth(queue, capacity)
                bound = capacity * EASED if self._full.get(queue) else capacity
                self._full[queue] = depth >= bound
        full = {queue for queue, is_full in self._full.items() if is_full}
        return frozenset(task for task, queues in fed.items() if full & queues)

    def _fed_by(self, task: Task[..., Any]) -> frozenset[str]:
        passage = self._tasks.passage
        return frozenset([*task.feeds, *(() if passage is None else passage.feeds(task.name))])
