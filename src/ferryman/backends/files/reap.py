"""reap: leases past their time end as their jobs' attempts, deadlines past theirs as cancelled."""

from __future__ import annotations

import contextlib
import heapq
from typing import TYPE_CHECKING

from ferryman.backends.files import endings
from ferryman.backends.files.document import Unreadable
from ferryman.backends.files.finish import finish_if_ended
from ferryman.backends.files.hints import announce
from ferryman.backends.files.lease import Lease
from ferryman.backends.files.names import name_of
from ferryman.backends.files.place import held
from ferryman.backends.files.reading import add_lease, read_job
from ferryman.backends.files.record import end_in_record
from ferryman.backends.files.removal import forget_job
from ferryman.job import WAITING, JobError, State
from ferryman.lifecycle import EXPIRED, Act, act
from ferryman.queue.answers import Reaped

if TYPE_CHECKING:
    from ferryman.backends.files.claims import Indexed
    from ferryman.backends.files.desk import Desk
    from ferryman.backends.files.line import Candidate, Line
    from ferryman.backends.files.place import Held
    from ferryman.backends.files.row import Row
    from ferryman.backends.files.store import Store


def reap(desk: Desk, limit: int) -> list[Reaped]:
    """Deadlines first: a job whose lease ended is then reported once."""
    desk.store.check_root()
    return [*_past_deadline(desk, limit), *_past_lease(desk, limit)]


def _past_deadline(desk: Desk, limit: int) -> list[Reaped]:
    """The oldest deadlines of all queues together."""
    now = desk.store.now()
    heads: list[tuple[Candidate, str, Line]] = []
    for queue in desk.store.queues():
        line = desk.deadlines(queue)
        # Nobody may be polling the queue, and what was dropped there may have a deadline.
        desk.sweep(queue)
        line.start()
        _add_head(heads, queue, line, now)
    reaped: list[Reaped] = []
    while heads and len(reaped) < limit:
        candidate, queue, line = heapq.heappop(heads)
        row = _cancel_expired(desk, queue, candidate, line, now)
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
    desk: Desk, queue: str, candidate: Candidate, line: Line, now: float
) -> Row | None:
    """Cancel a waiting job past its deadline; the line learns what became of its hint."""
    store = desk.store
    with held(store, store.folders(queue), name_of(candidate.id)) as place:
        row = None if place is None else _read(desk, place)
        if row is not None and row.state in WAITING and (row.deadline or 0.0) > candidate.ready_at:
            # A newer deadline than the hint's, perhaps past as well: others may be older.
            line.later(candidate, row.deadline or 0.0)
            return None
        line.done(candidate)
        if place is None or row is None or row.state not in WAITING or row.deadline is None:
            return None
        if finish_if_ended(store, place, row):
            return None
        row.blame(JobError(row.attempts, now, None, "expired", EXPIRED))
        endings.end(row, act(row.state, Act.CANCEL, row.id), now)
        end_in_record(store, place, row, now)
        return row


def _read(desk: Desk, place: Held) -> Row | None:
    try:
        return read_job(desk.store, place)
    except Unreadable as error:
        desk.adoption.set_aside(place, str(error))
        return None


def _past_lease(desk: Desk, limit: int) -> list[Reaped]:
    store, now = desk.store, desk.store.now()
    if store.make_index_again():
        for queue in store.queues():
            desk.sweeper.rebuild_if_needed(store.folders(queue))
    expired: list[tuple[float, Indexed]] = []
    for entry in desk.index.all():
        content = store.disk.read(f"{store.folders(entry.queue).job(entry.name)}/lease.json")
        lease = None if content is None else Lease.read(content)
        if content is not None and lease is None:
            # Nobody could tell whose it is or until when: its worker has lost it.
            expired.append((now, entry))
        elif lease is None or lease.fence != entry.fence:
            _drop_stale(desk, entry)
        elif store.expired(lease, now):
            expired.append((lease.expires_at, entry))
    expired.sort(key=_oldest_first)
    found = (_expire(desk, entry) for _, entry in expired[:limit])
    return [reaped for reaped in found if reaped is not None]


def _oldest_first(expired: tuple[float, Indexed]) -> tuple[float, str, str, str, int]:
    """Of several claims that lead to a lease which nobody can read, the last one is charged."""
    at, entry = expired
    return at, entry.worker, entry.queue, entry.name, -entry.fence


def _expire(desk: Desk, entry: Indexed) -> Reaped | None:
    """End one lease; read again under the lock, as a heartbeat or a reaper may be quicker."""
    store = desk.store
    with held(store, store.folders(entry.queue), entry.name) as place:
        if place is None:
            return None
        content = store.disk.read("lease.json", place.lock)
        lease = None if content is None else Lease.read(content)
        if content is None or not _is_over(store, lease, entry):
            return None
        # Asked after the judgement: no record may say that a lease was ended before its time.
        now = store.now()
        row = _read(desk, place)
        if row is None and store.disk.exists("task.json", place.lock):
            return None  # somebody may still be writing it
        if row is None or finish_if_ended(store, place, row):
            # Over already: whoever ended it died before the folder was gone.
            forget_job(store, place)
            store.disk.unlink(entry.path)
            return None
        if lease is None and entry.fence > row.fence:
            attempts = row.attempts + 1
            add_lease(
                row,
                Lease(entry.worker, now, fence=entry.fence, attempts=attempts, turn=0, nonce=""),
            )
        if row.state is not State.PROCESSING:
            # The history has ended this claim: only the lease was left to be removed.
            if lease is None:
                # It may have been that of a later claim, which no hint leads to.
                announce(store, place.folders, row, now)
            store.disk.sync_folder(place.path, place.lock)
            store.disk.unlink("lease.json", place.lock)
            store.disk.unlink(entry.path)
            return None
        worker = row.worker
        endings.expire(row, now)
        end_in_record(store, place, row, now)
        store.disk.unlink(entry.path)
        desk.claims.forget(row.id)
        return Reaped(row.id, row.queue, row.task, row.state, worker)


def _is_over(store: Store, lease: Lease | None, entry: Indexed) -> bool:
    """Whether the lease that the index told of has expired, or cannot be read."""
    return lease is None or (lease.fence == entry.fence and store.expired(lease, store.now()))


def _drop_stale(desk: Desk, entry: Indexed) -> None:
    """Remove a name from the index that leads nowhere; under the lock, for a claim in the making.

    A name is written just before its lease appears, both under the job's lock.
    """
    store = desk.store
    with (
        contextlib.suppress(BlockingIOError),
        held(store, store.folders(entry.queue), entry.name, wait=False) as place,
    ):
        if place is not None:
            lease = Lease.read(store.disk.read("lease.json", place.lock) or b"")
            if lease is not None and lease.fence == entry.fence:
                return
            if not store.disk.exists("task.json", place.lock):
                forget_job(store, place)
        store.disk.unlink(entry.path)
