"""All rows and every index over them; the one place where a row changes its state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.memory.heaps import Heap
from ferryman.backends.memory.keys import Keys
from ferryman.backends.memory.line import Line
from ferryman.backends.memory.row import Row
from ferryman.job import WAITING, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ferryman.job import Job
    from ferryman.message import Message

PENDING, PROCESSING = State.PENDING, State.PROCESSING


class Store:
    """Rows by id in push order, queues, claims by worker, deadlines, keys, and history.

    Nothing here decides: callers ask `lifecycle` and then `move` the row.
    """

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.lines: dict[str, Line] = {}
        self.claims: dict[str, dict[str, Row]] = {}
        self.history: dict[str, Row] = {}
        self.deadlines = Heap()
        self.keys = Keys()
        self._seq = 0
        self._history_in_order = True

    def line(self, queue: str) -> Line:
        """The queue of this name; naming it makes it."""
        line = self.lines.get(queue)
        if line is None:
            line = self.lines[queue] = Line(queue)
        return line

    def depth(self, queue: str, most: int, tenant: str | None) -> int:
        """How many pending rows a queue has, or a tenant of it, at most `most`."""
        line = self.lines.get(queue)
        if line is None:
            return 0
        return min(most, line.counts[PENDING] if tenant is None else line.tenants[tenant])

    def add(self, message: Message, now: float) -> Row:
        """A new pending row at the end of the push order."""
        self._seq += 1
        row = Row(message, self._seq, now)
        self.rows[row.id] = row
        if message.key is not None:
            self.keys.add(row)
        line = self.lines.get(message.queue) or self.line(message.queue)
        self._wait(row, line, now)
        return row

    def restore(self, job: Job, now: float) -> Row:
        """A row for a whole job that does not run, at the end of the push order."""
        self._seq += 1
        row = Row.of(job, self._seq)
        self.rows[row.id] = row
        self.keys.add(row)
        self._enter(row, now)
        row.finished_at = job.finished_at
        self._history_in_order = False
        return row

    def finished(self) -> Iterable[Row]:
        """Finished rows in the order in which they ended; restored ones ended before they came."""
        if not self._history_in_order:
            rows = sorted(self.history.values(), key=lambda row: row.finished_at or 0.0)
            self.history = {row.id: row for row in rows}
            self._history_in_order = True
        return self.history.values()

    def replace(self, row: Row, message: Message, now: float) -> None:
        """Put another body and other options into a waiting row; it keeps its state."""
        self._leave(row)
        self.keys.remove(row)
        row.adopt(message, now)
        row.start_anew()
        self.keys.add(row)
        self._enter(row, now)

    def claim(
        self,
        line: Line,
        rows: Sequence[Row],
        *,
        worker: str,
        turn: int,
        now: float,
        expires_at: float,
    ) -> None:
        """Lease rows that were taken from their line."""
        if not rows:
            return
        line.counts[PENDING] -= len(rows)
        line.counts[PROCESSING] += len(rows)
        claims = self.claims.setdefault(worker, {})
        for row in rows:
            if row.alarm is not None:
                self._disarm(row)
            if row.message.tenant is not None:
                line.count_tenant(row.message.tenant, -1)
            row.state = PROCESSING
            row.fence += 1
            row.attempts += 1
            row.worker = worker
            row.turn = turn
            row.started_at = row.heartbeat_at = now
            row.expires_at = expires_at
            claims[row.id] = row

    def move(self, row: Row, state: State, now: float) -> None:
        """Give a row its next state; the lease, if it had one, is over."""
        self._leave(row)
        row.state = state
        row.heartbeat_at = row.expires_at = row.asked = None
        if state is not PENDING:
            row.tenant_turn = 0
        if row.message.key is not None:
            self.keys.move(row)
        self._enter(row, now)

    def remove(self, row: Row) -> None:
        """Forget a row wholly."""
        self._leave(row)
        self.keys.remove(row)
        del self.rows[row.id]

    def processing(self) -> Iterable[Row]:
        """Every claimed row."""
        return (row for claims in self.claims.values() for row in claims.values())

    def _enter(self, row: Row, now: float) -> None:
        line = self.line(row.message.queue)
        if row.state in WAITING:
            row.worker = None
            self._wait(row, line, now)
        else:
            line.counts[row.state] += 1
            row.finished_at = now
            self.history[row.id] = row

    def _wait(self, row: Row, line: Line, now: float) -> None:
        line.counts[row.state] += 1
        if row.deadline is not None:
            row.alarm = self.deadlines.push(row, row.deadline)
        if row.state is PENDING:
            if row.message.tenant is not None:
                line.count_tenant(row.message.tenant, 1)
            line.add(row, now)

    def _leave(self, row: Row) -> None:
        line = self.lines[row.message.queue]
        line.counts[row.state] -= 1
        if row.state is PROCESSING:
            worker = row.worker or ""
            claims = self.claims[worker]
            del claims[row.id]
            if not claims:
                del self.claims[worker]
        elif row.state in WAITING:
            if row.state is PENDING and row.message.tenant is not None:
                line.count_tenant(row.message.tenant, -1)
            line.remove(row)
            self._disarm(row)
        else:
            del self.history[row.id]

    def _disarm(self, row: Row) -> None:
        if row.alarm is not None:
            self.deadlines.drop(row.alarm)
            row.alarm = None
