"""One queue: its pending jobs in two kinds of heaps, and its counters."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ferryman.backends.memory.heaps import Heap
from ferryman.backends.memory.turns import Turns
from ferryman.job import State
from ferryman.queue.answers import QueueCounts

if TYPE_CHECKING:
    from collections.abc import Collection

    from ferryman.backends.memory.row import Row


class Line:
    """The jobs of one queue that wait to be claimed.

    `scheduled` holds those that are not due, by `ready_at`. Those that are due stand in claiming
    order, one heap for each task: a poll that skips a task leaves its jobs untouched.
    """

    __slots__ = ("_ready", "_scheduled", "_turns", "counts", "name", "paused", "tenants")

    def __init__(self, name: str) -> None:
        self.name = name
        self.paused = False
        self.counts = dict.fromkeys(State, 0)
        self.tenants: Counter[str] = Counter()
        self._ready: dict[str, Heap] = {}
        self._scheduled = Heap()
        self._turns = Turns()

    def add(self, row: Row, now: float) -> None:
        """Let a pending row stand in line."""
        if row.ready_at > now:
            row.tenant_turn = 0
            row.heap = self._scheduled
            row.place = row.heap.push(row, row.ready_at, row.seq)
            return
        message = row.message
        if message.tenant is not None:
            self._turns.join(row, message.priority, message.tenant)
        heap = self._ready.get(message.task)
        if heap is None:
            heap = self._ready[message.task] = Heap()
        row.heap = heap
        row.place = heap.push(row, -message.priority, row.tenant_turn, row.ready_at, row.seq)

    def count_tenant(self, tenant: str, n: int) -> None:
        """Count a pending row of a tenant, or count it no longer."""
        self.tenants[tenant] += n
        if not self.tenants[tenant]:
            del self.tenants[tenant]

    def remove(self, row: Row) -> None:
        """Take a row out of the line, if it stands there."""
        if row.heap is not None and row.place is not None:
            row.heap.drop(row.place)
            row.heap = row.place = None
            if row.tenant_turn:
                self._turns.leave(row.message.priority, row.message.tenant)
                row.tenant_turn = 0

    def take(self, limit: int, now: float, skip_tasks: Collection[str]) -> list[Row]:
        """Remove the first `limit` rows that may be claimed, in order."""
        if self.paused:
            return []
        self._promote(now)
        heaps = self._heaps(skip_tasks)
        taken: list[Row] = []
        while heaps and len(taken) < limit:
            heap = heaps[0] if len(heaps) == 1 else min(heaps, key=Heap.top)  # type: ignore[arg-type]
            row = heap.pop()
            if not heap:
                heaps.remove(heap)
            if row is not None and row.tenant_turn:
                self._turns.leave(row.message.priority, row.message.tenant)
            if row is not None and self._claimable(row, now):
                if row.tenant_turn:
                    self._turns.claim(row.message.priority, row.tenant_turn)
                taken.append(row)
        return taken

    def due_at(self, now: float) -> float | None:
        """When the next row may be claimed: `now`, later, or never."""
        if self.paused:
            return None
        self._promote(now)
        if self._heaps(()):
            return now
        first = self._scheduled.top()
        return None if first is None else float(first[0])

    def count(self, now: float) -> QueueCounts:
        """The counters, which are maintained and never recounted."""
        self._promote(now)
        states = {state: number for state, number in self.counts.items() if number}
        since = [at for heap in self._heaps(()) if (at := heap.least(2)) is not None]
        age = max(0.0, now - min(since)) if since else None
        return QueueCounts(self.name, states, len(self._scheduled), self.paused, age)

    def _heaps(self, skip_tasks: Collection[str]) -> list[Heap]:
        for task in [task for task, heap in self._ready.items() if not heap]:
            del self._ready[task]
        return [heap for task, heap in self._ready.items() if task not in skip_tasks]

    def _promote(self, now: float) -> None:
        while (first := self._scheduled.top()) is not None and first[0] <= now:
            row = self._scheduled.pop()
            if row is not None:
                self.add(row, now)

    def _claimable(self, row: Row, now: float) -> bool:
        row.heap = row.place = None
        if row.ready_at > now:  # the wall clock was set back since it was found due
            self.add(row, now)
            return False
        # A row past its deadline leaves the line at once: only the reaper has business with it.
        return row.deadline is None or row.deadline > now
