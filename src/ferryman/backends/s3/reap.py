"""reap: leases past their time end by conditional writes, so that one reaper ends each.

What is known here leads to candidates; the bucket says whether the lease is really past its time,
because the heartbeats of other nodes are seen late.
"""

from __future__ import annotations

import contextlib
import heapq
from functools import partial
from typing import TYPE_CHECKING

from ferryman.backends.files import endings
from ferryman.backends.files.names import name_of
from ferryman.backends.files.place import Place, held
from ferryman.backends.s3.errors import UnreadableObject
from ferryman.backends.s3.settle import land, take_over
from ferryman.backends.s3.sight import see, without_unreadable
from ferryman.backends.s3.swap import swap
from ferryman.job import WAITING, JobError, State
from ferryman.lifecycle import EXPIRED, Act, act
from ferryman.queue.answers import Reaped

if TYPE_CHECKING:
    from ferryman.backends.files.claims import Indexed
    from ferryman.backends.files.line import Candidate, Line
    from ferryman.backends.files.row import Row
    from ferryman.backends.s3.node import Node
    from ferryman.backends.s3.sight import Sight


def reap(node: Node, limit: int) -> list[Reaped]:
    """Deadlines first: a job whose lease ended is then reported once."""
    node.sync.at_least_recent()
    node.sync.resolve_doubts()
    reaped = [*_past_deadline(node, limit), *_past_lease(node, limit)]
    if not reaped:
        node.mark.check()
    return reaped


def _past_deadline(node: Node, limit: int) -> list[Reaped]:
    """The oldest deadlines of all queues together."""
    now = node.store.now()
    heads: list[tuple[Candidate, str, Line]] = []
    for queue in node.store.queues():
        line = node.desk.deadlines(queue)
        line.start()
        _add_head(heads, queue, line, now)
    reaped: list[Reaped] = []
    while heads and len(reaped) < limit:
        candidate, queue, line = heapq.heappop(heads)
        try:
            row = _cancel_expired(node, queue, candidate, line, now)
        except BaseException:
            line.back(candidate)
            raise
        if row is not None:
            reaped.append(Reaped(row.id, row.queue, row.task, row.state, None))
        _add_head(heads, queue, line, now)
    for candidate, _, line in heads:
        line.back(candidate)
    return reaped


def _add_head(heads: list[tuple[Candidate, str, Line]], queue: str, line: Line, now: float) -> None:
    candidate = line.take(now)
    if candidate is not None:
        heapq.heappush(heads, (candidate, queue, line))


def _cancel_expired(
    node: Node, queue: str, candidate: Candidate, line: Line, now: float
) -> Row | None:
    """Cancel a waiting job past its deadline; the line learns what became of its hint."""
    name = name_of(candidate.id)
    sight = node.mirror.read(Place(node.store.folders(queue), name))
    for again in range(2):
        row = None if sight is None or sight.gone else sight.fork()
        if sight is None or row is None or row.state not in WAITING or row.deadline is None:
            break
        if row.deadline > candidate.ready_at:
            # A newer deadline than the hint's, perhaps past as well: others may be older.
            line.later(candidate, row.deadline)
            return None
        row.blame(JobError(row.attempts, now, None, "expired", EXPIRED))
        endings.end(row, act(row.state, Act.CANCEL, row.id), now)
        written = swap(node, sight, row)
        if written is not None:
            line.done(candidate)
            land(node, written)
            return row
        look = partial(see, node, queue, name)
        sight = without_unreadable(look) if not again else None
        if sight is not None:
            take_over(node, sight)
    line.done(candidate)
    return None


def _past_lease(node: Node, limit: int) -> list[Reaped]:
    store, now = node.store, node.store.now()
    expired: list[tuple[float, Indexed]] = []
    for entry in node.desk.index.all():
        sight = node.mirror.read(Place(store.folders(entry.queue), entry.name))
        if sight is None or not _is(sight.row, entry.fence):
            _drop_stale(node, entry)
        elif (sight.row.expires_at or 0.0) <= now:
            expired.append((sight.row.expires_at or 0.0, entry))
    expired.sort()
    found = node.each(partial(_expire, node), [entry for _, entry in expired[:limit]])
    return [reaped for reaped in found if reaped is not None]


def _drop_stale(node: Node, entry: Indexed) -> None:
    """Remove a name from the index that leads nowhere; under the lock, for a claim in the making.

    A name is written just before its lease appears, both under the job's lock.
    """
    folders = node.store.folders(entry.queue)
    with (
        contextlib.suppress(BlockingIOError),
        held(node.store, folders, entry.name, wait=False) as place,
    ):
        sight = None if place is None else node.mirror.read(place)
        if sight is None or not _is(sight.row, entry.fence):
            node.store.disk.unlink(entry.path)


def _expire(node: Node, entry: Indexed) -> Reaped | None:
    """End one lease; where somebody was faster, look at what it is now."""
    sight: Sight | None = node.mirror.read(Place(node.store.folders(entry.queue), entry.name))
    for _ in range(3):
        now = node.store.now()
        if sight is None or sight.gone or not _is(sight.row, entry.fence):
            return None
        if (sight.row.expires_at or 0.0) > now:
            return None
        row = sight.fork()
        worker = row.worker
        endings.expire(row, now)
        node.put_off(row, now)
        written = swap(node, sight, row)
        if written is not None:
            land(node, written)
            return Reaped(row.id, row.queue, row.task, row.state, worker)
        try:
            sight = see(node, entry.queue, entry.name)
        except UnreadableObject:
            return None
        if sight is None:
            node.mirror.forget(entry.queue, entry.name)
        else:
            take_over(node, sight)
    return None


def _is(row: Row, fence: int) -> bool:
    return row.state is State.PROCESSING and row.fence == fence
