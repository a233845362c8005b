"""What upkeep does: end what is past its time, forget what is old."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from ferryman.backends.memory import endings
from ferryman.job import TERMINAL, JobError
from ferryman.lifecycle import EXPIRED, Act, act
from ferryman.message import RUN
from ferryman.queue.answers import Reaped

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ferryman.backends.memory.row import Row
    from ferryman.backends.memory.store import Store
    from ferryman.job import State


def reap(store: Store, limit: int, now: float) -> list[Reaped]:
    """Cancel waiting jobs past their deadline, then end leases past their time.

    In this order a job whose lease ended is reported once, even if its deadline passed as well.
    """
    reaped: list[Reaped] = []
    for row in islice(_past_deadline(store, now), limit):
        _cancel(store, row, now)
        reaped.append(_reaped(row, None))
    for row in _past_lease(store, now)[:limit]:
        worker = row.worker
        endings.expire(store, row, now)
        reaped.append(_reaped(row, worker))
    return reaped


def prune(
    store: Store,
    before: float,
    *,
    states: Collection[State],
    keep: int,
    limit: int,
    spare: Collection[str],
) -> int:
    """Forget finished jobs that ended before a moment, in the order in which they ended."""
    chosen = frozenset(states or TERMINAL) & TERMINAL
    total = sum(line.counts[state] for line in store.lines.values() for state in chosen)
    finished = (row for row in store.finished() if row.state in chosen)
    if spare:
        left = [row for row in finished if (row.meta or {}).get(RUN) not in spare]
        total, finished = len(left), (row for row in left)
    oldest = list(islice(finished, max(0, min(limit, total - keep))))
    old = [row for row in oldest if row.finished_at is not None and row.finished_at < before]
    for row in old:
        store.remove(row)
    return len(old)


def _reaped(row: Row, worker: str | None) -> Reaped:
    return Reaped(row.id, row.message.queue, row.message.task, row.state, worker)


def _past_deadline(store: Store, now: float) -> Iterator[Row]:
    # The row in hand has left the heap by the time the next one is asked for.
    while (first := store.deadlines.top()) is not None and first[0] <= now:
        yield first[-1]


def _cancel(store: Store, row: Row, now: float) -> None:
    after = act(row.state, Act.CANCEL, row.id)
    row.blame(JobError(row.attempts, now, None, "expired", EXPIRED))
    store.move(row, after, now)


def _past_lease(store: Store, now: float) -> list[Row]:
    # Only live claims are looked at: there are as many as handlers run, not as jobs wait.
    ended = [(row.expires_at, row.seq, row) for row in store.processing() if row.expires_at]
    return [row for expires_at, _, row in sorted(ended) if expires_at <= now]
