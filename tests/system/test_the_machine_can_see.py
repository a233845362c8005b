"""A checker that never complains proves nothing: each of these backends breaks one rule."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase

from ferryman.backends.memory import MemoryBackend
from ferryman.backends.memory.heaps import Heap
from ferryman.backends.memory.line import Line
from ferryman.job import State
from ferryman.lifecycle import Verdict
from ferryman.testing.machine import check_backend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.memory.row import Row
    from ferryman.clock import Clock
    from ferryman.job import Job
    from ferryman.message import Message
    from ferryman.queue.answers import Acted, Cell, Pushed, Reaped
    from ferryman.queue.capabilities import Capabilities
    from ferryman.queue.heartbeat import Beat, Pulse
    from ferryman.queue.settlement import Receipt, Settlement


class SettlesWithoutFence(MemoryBackend):
    """Whoever settles a processing job is believed."""

    def settle(self, settlements: Sequence[Settlement]) -> Sequence[Receipt]:
        rows = self._store.rows
        return super().settle(
            [
                replace(each, fence=rows[each.job_id].fence) if each.job_id in rows else each
                for each in settlements
            ]
        )


class ForgetsSettlements(MemoryBackend):
    """The same settlement sent twice is a lost lease."""

    def settle(self, settlements: Sequence[Settlement]) -> Sequence[Receipt]:
        receipts = super().settle(settlements)
        for each in settlements:
            if each.job_id in self._store.rows:
                self._store.rows[each.job_id].last_end = None
        return receipts


class IgnoresReadyAt(MemoryBackend):
    """Scheduled jobs are handed out at once."""

    def poll(self, *args: Any, **options: Any) -> Sequence[Job]:
        now = self.clock.now()
        scheduled = {row: row.ready_at for row in self._store.rows.values() if row.ready_at > now}
        for row in scheduled:
            row.ready_at = now
            if row.state is State.PENDING:
                self._store.move(row, State.PENDING, now)
        jobs = super().poll(*args, **options)
        for row, ready_at in scheduled.items():
            row.ready_at = ready_at
        return [replace(job, ready_at=self._store.rows[job.id].ready_at) for job in jobs]


class FirstComeLine(Line):
    """Knows when a job is ready, and nothing else of it."""

    def add(self, row: Row, now: float) -> None:
        if row.ready_at > now:
            super().add(row, now)
            return
        row.heap = self._ready.setdefault(row.message.task, Heap())
        row.place = row.heap.push(row, row.ready_at, row.seq)


class IgnoresPriority(MemoryBackend):
    """First come, first served."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        lines = self._store.lines
        self._store.line = lambda queue: lines.setdefault(queue, FirstComeLine(queue))  # type: ignore[method-assign]


class ChargesGivenBackClaims(MemoryBackend):
    """A snooze costs an attempt."""

    def settle(self, settlements: Sequence[Settlement]) -> Sequence[Receipt]:
        before = {row.id: row.given_back for row in self._store.rows.values()}
        receipts = super().settle(settlements)
        for each in settlements:
            row = self._store.rows.get(each.job_id)
            if row is not None and row.given_back > before[row.id]:
                row.attempts += 1
        return receipts


class ForgetsKeys(MemoryBackend):
    """Every keyed message makes a job."""

    def push(self, messages: Sequence[Message], **options: Any) -> Sequence[Pushed]:
        self._store.keys._unfinished.clear()
        self._store.keys._pushed.clear()
        return super().push(messages, **options)


class MiscountsPurgedJobs(MemoryBackend):
    """The counters are not maintained by purge."""

    def purge(self, queue: str) -> int:
        purged = super().purge(queue)
        if purged:
            self._store.line(queue).counts[State.PENDING] += 1
        return purged


class KeepsLostClaims(MemoryBackend):
    """A lost poll reply costs a whole lease."""

    def heartbeat(
        self, worker: str, beats: Sequence[Beat], *, lease: float, answered: int = -1
    ) -> Sequence[Pulse]:
        return super().heartbeat(worker, beats, lease=lease)


class RunsExpiredJobs(MemoryBackend):
    """Deadlines are forgotten."""

    def push(self, messages: Sequence[Message], **options: Any) -> Sequence[Pushed]:
        pushed = super().push([replace(each, expires=None) for each in messages], **options)
        now = self.clock.now()
        for message, answer in zip(messages, pushed, strict=True):
            if answer.status in ("created", "replaced") and message.expires:
                self._store.rows[answer.id].deadline = now + message.expires
        return pushed


class HandsOverWhateverHappens(MemoryBackend):
    """Children of failed jobs are pushed too."""

    def settle(self, settlements: Sequence[Settlement]) -> Sequence[Receipt]:
        receipts = super().settle(settlements)
        for each, receipt in zip(settlements, receipts, strict=True):
            if receipt.applied and each.verdict is Verdict.FAIL:
                self.push(each.children)
        return receipts


class ReapsTooMuch(MemoryBackend):
    """The limit of a reap is ignored."""

    def reap(self, limit: int = 1_000) -> Sequence[Reaped]:
        return super().reap()


class RetriesInTheSameGeneration(MemoryBackend):
    """Nobody can tell a retried job from its first life."""

    def retry(self, ids: Sequence[str]) -> Sequence[Acted]:
        acted = super().retry(ids)
        for each in acted:
            if each.refused is None:
                self._store.rows[each.id].generation -= 1
        return acted


class ChargesRestoredJobs(MemoryBackend):
    """A job from another store pays for the way."""

    def restore(self, jobs: Sequence[Job]) -> Sequence[Pushed]:
        restored = super().restore(jobs)
        for job, answer in zip(jobs, restored, strict=True):
            if answer.created:
                self._store.rows[job.id].attempts += 1
        return restored


class StartsVersionsAgain(MemoryBackend):
    """A deleted cell comes back with a version that was there before."""

    def write_cell(self, key: str, value: str | None, **options: Any) -> Cell | None:
        cell = super().write_cell(key, value, **options)
        if cell is not None and value is None:
            self._cells._versions.clear()
        return cell


class NewestFirstLine(Line):
    """Priorities are kept, but among equals the last comes first."""

    def add(self, row: Row, now: float) -> None:
        if row.ready_at > now:
            super().add(row, now)
            return
        row.heap = self._ready.setdefault(row.message.task, Heap())
        row.place = row.heap.push(row, -row.message.priority, -row.seq)


class NewestFirst(MemoryBackend):
    """Promises a strict order and does not keep it."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        lines = self._store.lines
        self._store.line = lambda queue: lines.setdefault(queue, NewestFirstLine(queue))  # type: ignore[method-assign]


class Windowed(NewestFirst):
    """Keeps no strict order and says so."""

    @property
    def capabilities(self) -> Capabilities:
        return replace(super().capabilities, order="windowed")


BROKEN = (
    *(SettlesWithoutFence, ForgetsSettlements, IgnoresReadyAt, IgnoresPriority),
    *(ChargesGivenBackClaims, ForgetsKeys, MiscountsPurgedJobs, KeepsLostClaims, RunsExpiredJobs),
    *(HandsOverWhateverHappens, ReapsTooMuch, RetriesInTheSameGeneration, StartsVersionsAgain),
    *(NewestFirst, ChargesRestoredJobs),
)


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.__name__)
def test_a_broken_backend_is_found(broken: type[MemoryBackend]) -> None:
    with pytest.raises(AssertionError):
        check_backend(broken, examples=2_000, phases=[Phase.generate], derandomize=True)


def test_an_order_that_a_backend_does_not_promise_is_not_asked_of_it() -> None:
    check_backend(Windowed, examples=50)
