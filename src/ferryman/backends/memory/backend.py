"""The memory backend: the verbs of the contract, in its order."""

from __future__ import annotations

import math
import time
from itertools import islice
from threading import Condition
from typing import TYPE_CHECKING, Final

from ferryman.backends.memory import endings, upkeep
from ferryman.backends.memory.acts import perform
from ferryman.backends.memory.cells import Cells
from ferryman.backends.memory.intake import accept, is_new, take_in
from ferryman.backends.memory.store import Store
from ferryman.clock import SystemClock
from ferryman.errors import InvalidFilter
from ferryman.job import WAITING, Job, State
from ferryman.lifecycle import Act, check_prunable
from ferryman.queue.answers import Acted, Cell, Page, Pushed, Reaped, Snapshot
from ferryman.queue.arrival import arrive
from ferryman.queue.capabilities import Capabilities
from ferryman.queue.capacity import NO_LIMITS, push_within
from ferryman.queue.heartbeat import Beat, Pulse
from ferryman.queue.joining import no_database

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ferryman.backends.memory.row import Row
    from ferryman.clock import Clock
    from ferryman.filter import Filter
    from ferryman.message import Message
    from ferryman.queue.capacity import Limits
    from ferryman.queue.settlement import Receipt, Settlement

CAPABILITIES: Final = Capabilities(
    backend="memory",
    durable=False,
    shared=False,
    order="strict",
    transactional_push=False,
    exact_capacity=True,
    tenants=True,
)


class MemoryBackend:
    """Jobs in this process: for tests, for learning, and as the reference of every rule.

    One lock guards the store, so each verb is atomic as a whole. Waiters are woken by whatever may
    have made a job claimable.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._store = Store()
        self._cells = Cells()
        self._changed = Condition()
        self._wakes = 0

    @property
    def capabilities(self) -> Capabilities:
        return CAPABILITIES

    @property
    def clock(self) -> Clock:
        return self._clock

    # -- producers and workers

    def push(
        self,
        messages: Sequence[Message],
        *,
        connection: object | None = None,
        limits: Limits = NO_LIMITS,
    ) -> Sequence[Pushed]:
        if connection is not None:
            raise no_database("memory", "push(connection=…)")
        with self._changed:
            now = self._clock.now()
            store = self._store
            if limits:
                pushed = push_within(
                    limits,
                    messages,
                    lambda allowed: [accept(store, message, now) for message in allowed],
                    depth=store.depth,
                    is_new=lambda message: is_new(store, message, now),
                )
            else:
                pushed = [accept(store, message, now) for message in messages]
            self._changed.notify_all()
        return pushed

    def depth(self, queue: str, most: int, tenant: str | None = None) -> int:
        with self._changed:
            return self._store.depth(queue, most, tenant)

    def poll(
        self,
        worker: str,
        queues: Mapping[str, int],
        *,
        lease: float,
        turn: int = 0,
        skip_tasks: Collection[str] = (),
    ) -> Sequence[Job]:
        with self._changed:
            now = self._clock.now()
            claimed: list[Row] = []
            for queue, limit in queues.items():
                line = self._store.lines.get(queue)
                if line is not None:
                    rows = line.take(limit, now, skip_tasks)
                    self._store.claim(
                        line, rows, worker=worker, turn=turn, now=now, expires_at=now + lease
                    )
                    claimed += rows
            return [row.job() for row in claimed]

    def heartbeat(
        self, worker: str, beats: Sequence[Beat], *, lease: float, answered: int = -1
    ) -> Sequence[Pulse]:
        with self._changed:
            now = self._clock.now()
            pulses = [self._prolong(beat, worker, now, now + lease) for beat in beats]
            listed = {(beat.job_id, beat.fence) for beat in beats}
            for row in list(self._store.claims.get(worker, {}).values()):
                if row.turn <= answered and (row.id, row.fence) not in listed:
                    endings.give_back(self._store, row, now)
                    self._changed.notify_all()
            return pulses

    def settle(self, settlements: Sequence[Settlement]) -> Sequence[Receipt]:
        with self._changed:
            now = self._clock.now()
            store = self._store
            receipts = [endings.settle(store, settlement, now) for settlement in settlements]
            self._changed.notify_all()
        return receipts

    def reap(self, limit: int = 1_000) -> Sequence[Reaped]:
        with self._changed:
            now = self._clock.now()
            reaped = upkeep.reap(self._store, limit, now)
            self._changed.notify_all()
        return reaped

    def wait(self, queues: Collection[str], timeout: float) -> bool:
        # The caller's patience is real time even where the store's clock is a test's.
        deadline = time.monotonic() + timeout
        with self._changed:
            wakes = self._wakes
            while True:
                left = deadline - time.monotonic()
                now = self._clock.now()
                due = self._due_at(queues, now)
                if due is not None and due <= now:
                    return True
                if left <= 0 or self._wakes != wakes:
                    return False
                self._changed.wait(left if due is None else min(left, due - now))

    def wake(self) -> None:
        with self._changed:
            self._wakes += 1
            self._changed.notify_all()

    # -- operators

    def get(self, job_id: str) -> Job | None:
        with self._changed:
            row = self._store.rows.get(job_id)
            return None if row is None else row.job(whole=True)

    def list(self, where: Filter, *, limit: int = 50, after: str | None = None) -> Page:
        below = _seq_of(after)
        with self._changed:
            now = self._clock.now()
            rows = (row for row in reversed(self._store.rows.values()) if row.seq < below)
            jobs = (job for job in (row.job() for row in rows) if where.matches(job, now))
            page = tuple(islice(jobs, max(0, limit)))
            more = len(page) == limit and next(jobs, None) is not None
        return Page(page, str(page[-1].seq) if more and page else None)

    def snapshot(self) -> Snapshot:
        with self._changed:
            now = self._clock.now()
            counts = [line.count(now) for line in self._store.lines.values()]
        return Snapshot(now, {each.queue: each for each in counts if each.states or each.paused})

    def cancel(self, ids: Sequence[str]) -> Sequence[Acted]:
        return self._act(ids, Act.CANCEL)

    def pause(self, ids: Sequence[str]) -> Sequence[Acted]:
        return self._act(ids, Act.PAUSE)

    def resume(self, ids: Sequence[str]) -> Sequence[Acted]:
        return self._act(ids, Act.RESUME)

    def retry(self, ids: Sequence[str]) -> Sequence[Acted]:
        return self._act(ids, Act.RETRY)

    def delete(self, ids: Sequence[str]) -> Sequence[Acted]:
        return self._act(ids, Act.DELETE)

    def restore(self, jobs: Sequence[Job]) -> Sequence[Pushed]:
        with self._changed:
            now = self._clock.now()
            restored = [take_in(self._store, job, now) for job in arrive(jobs, now)]
            self._changed.notify_all()
        return restored

    def pause_queue(self, queue: str) -> None:
        with self._changed:
            self._store.line(queue).paused = True

    def resume_queue(self, queue: str) -> None:
        with self._changed:
            self._store.line(queue).paused = False
            self._changed.notify_all()

    def purge(self, queue: str) -> int:
        with self._changed:
            rows = self._store.rows.values()
            waiting = [row for row in rows if row.message.queue == queue and row.state in WAITING]
            for row in waiting:
                self._store.remove(row)
            return len(waiting)

    def prune(
        self,
        *,
        older_than: float,
        states: Collection[State] = (),
        keep: int | None = None,
        limit: int = 10_000,
        spare: Collection[str] = (),
    ) -> int:
        check_prunable(older_than)
        with self._changed:
            before = self._clock.now() - older_than
            return upkeep.prune(
                self._store, before, states=states, keep=keep or 0, limit=limit, spare=spare
            )

    # -- cells

    def read_cells(self, prefix: str) -> Sequence[Cell]:
        with self._changed:
            return self._cells.read(prefix, self._clock.now())

    def write_cell(
        self, key: str, value: str | None, *, expect: int | None, ttl: float | None = None
    ) -> Cell | None:
        with self._changed:
            return self._cells.write(key, value, expect, ttl, self._clock.now())

    def close(self) -> None:
        """Nothing to free: the store lives as long as this object."""

    # -- parts of the verbs; all need the lock

    def _prolong(self, beat: Beat, worker: str, now: float, expires_at: float) -> Pulse:
        row = self._store.rows.get(beat.job_id)
        if row is None or not row.claimed_as(beat.fence, worker):
            return Pulse(beat.job_id, beat.fence, held=False)
        row.heartbeat_at = now
        row.expires_at = expires_at
        row.report(beat.percent, beat.note, beat.logs)
        if beat.checkpoint is not None:
            row.stored_checkpoint = beat.checkpoint
        return Pulse(beat.job_id, beat.fence, held=True, asked=row.asked)

    def _due_at(self, queues: Collection[str], now: float) -> float | None:
        lines = filter(None, map(self._store.lines.get, queues))
        return min((due for line in lines if (due := line.due_at(now)) is not None), default=None)

    def _act(self, ids: Sequence[str], verb: Act) -> Sequence[Acted]:
        with self._changed:
            now = self._clock.now()
            acted = [perform(self._store, job_id, verb, now) for job_id in ids]
            self._changed.notify_all()
        return acted


def _seq_of(after: str | None) -> float:
    if after is None:
        return math.inf
    try:
        return int(after)
    except ValueError:
        raise InvalidFilter(f"after: {after!r} is not the `next` of a page") from None
