"""Relaxed: what this node did is carried to the bucket, what others did comes from there.

Nothing is decided in the bucket. Of two stories about one job the one that went further wins: the
higher generation, then the higher fence, then the claim that ended, then the later heartbeat.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

from ferryman.backends.files.document import Unreadable, parse, record_text
from ferryman.backends.files.layout import ENDS
from ferryman.backends.files.names import name_of, text_of
from ferryman.backends.files.place import held
from ferryman.backends.files.reading import record_of
from ferryman.backends.s3.answers import Lost
from ferryman.backends.s3.hold import Hold, hold_text, row_of_task, task_object
from ferryman.backends.s3.sight import Sight, read_record
from ferryman.backends.s3.sync import Passed
from ferryman.ids import new_id
from ferryman.job import State

if TYPE_CHECKING:
    from ferryman.backends.files.place import Held
    from ferryman.backends.files.row import Row
    from ferryman.backends.s3.answers import Entry, Object
    from ferryman.backends.s3.node import Node

FOREIGN: Final = "s3"
"""How the index names a lease that came from the bucket."""

Rank = tuple[int, int, bool, float]


class Relay:
    """Carries jobs, leases and records between one node's files and the bucket."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._store = node.store
        self._bucket = node.bucket
        self._home = node.home
        self._read: dict[str, Object] = {}

    def once(self) -> Passed:
        """Everything in both directions; results before anything else."""
        passed = Passed()
        marks = {entry.key for entry in self._bucket.list(self._home.queues)}
        for queue in self._store.queues():
            if self._home.queue(queue) not in marks:
                self._bucket.put(self._home.queue(queue), new_id().encode())
        for queue in self._node.sync.queues():
            self.queue(queue, passed)
        return passed

    def queue(self, queue: str, passed: Passed) -> None:
        """One queue in both directions."""
        self._store.make_queue(queue)
        self._records(queue, passed)
        tasks, leases = self._node.sync.list_pending(queue)
        local = self._store.disk.names(self._store.folders(queue).pending) or ()
        names = {*tasks, *(name for name in local if not name.startswith("."))}
        passed.seen += len(names)
        for name in sorted(names):
            try:
                self._job(queue, name, tasks.get(name), leases.get(name), passed)
            except Unreadable as error:
                passed.unreadable.append(f"{self._home.task(queue, name)}: {error}")

    # -- at once, where the bucket answers

    def send_task(self, queue: str, name: str) -> None:
        """Carry a job that was just pushed here."""
        with held(self._store, self._store.folders(queue), name) as place:
            local = None if place is None else self._node.mirror.read(place)
        if local is not None:
            self._bucket.put_new(self._home.task(queue, name), task_object(_waiting(local)))

    def send_record(self, queue: str, name: str) -> bool:
        """Carry the end of a job; False if another end of the same generation stood there before.

        The record first: then the task and the lease may go.
        """
        row = record_of(self._store, self._store.folders(queue), name)
        if row is None:
            return True
        key, body = self._home.record(queue, row.state, name), record_text(row, handed_off=True)
        rival = self._end_elsewhere(queue, name, row)
        if rival is None:
            written = self._bucket.put_new(key, body)
            if isinstance(written, Lost) and written.found is not None:
                self._bucket.put_over(key, body, written.found.etag)
        else:
            duplicate = self._home.duplicate(queue, name, new_id())
            self._bucket.put(duplicate, body)
            self._node.mirror.keep_record(rival)
        self._bucket.delete_many([self._home.task(queue, name), self._home.lease(queue, name)])
        return rival is None

    # -- records

    def _records(self, queue: str, passed: Passed) -> None:
        disk, folders = self._store.disk, self._store.folders(queue)
        there: dict[str, State] = {}
        here: dict[str, State] = {}
        for state in ENDS:
            prefix = self._home.record(queue, state, "").removesuffix(".json")
            there |= {_name(entry.key): state for entry in self._bucket.list(prefix)}
            here |= {_name(file): state for file in disk.names(folders.ends[state]) or ()}
        for name in sorted(here.keys() - there.keys()):
            passed.records += 1
            passed.duplicates += not self.send_record(queue, name)
        for name in sorted(there.keys() - here.keys()):
            passed.changed += self._fetch_record(queue, there[name], name)

    def _fetch_record(self, queue: str, state: State, name: str) -> bool:
        found = self._bucket.get(self._home.record(queue, state, name))
        row = None if found is None else read_record(found.body, queue, name, state)
        if row is None:
            return False
        with held(self._store, self._store.folders(queue), name) as place:
            local = None if place is None else self._node.mirror.read(place)
            if local is not None and local.row.generation > row.generation:
                return False
            if local is not None and self._runs_here(local.row, name):
                return False  # its own end will be a duplicate
            self._node.mirror.keep_record(row)
            if place is not None:
                self._node.mirror.drop(place, local)
        return True

    def _end_elsewhere(self, queue: str, name: str, row: Row) -> Row | None:
        """Another end of this generation or a later one that the bucket has already."""
        for state in ENDS:
            found = self._bucket.get(self._home.record(queue, state, name))
            other = None if found is None else read_record(found.body, queue, name, state)
            if other is not None and other.generation >= row.generation and not _alike(other, row):
                return other
        return None

    # -- jobs

    def _job(
        self, queue: str, name: str, task: Entry | None, lease: Entry | None, passed: Passed
    ) -> None:
        remote = None if task is None else self._remote(queue, name, task, lease)
        if remote is not None and self._ended(queue, name, remote.row.generation):
            # The end was carried, and then the task came back.
            self._bucket.delete(self._home.task(queue, name), remote.task)
            passed.removed += 1
            return
        with contextlib.ExitStack() as stack:
            place = stack.enter_context(held(self._store, self._store.folders(queue), name))
            local = None if place is None else self._node.mirror.read(place)
            if remote is not None and (local is None or place is None):
                stack.close()
                self._node.mirror.keep(remote)
                passed.changed += 1
            elif remote is not None and local is not None and place is not None:
                self._settle(place, local, remote, passed)
            elif local is not None and place is not None:
                self._upload(place, local, passed)

    def _settle(self, place: Held, local: Sight, remote: Sight, passed: Passed) -> None:
        mine, theirs = _rank(local.row), _rank(remote.row)
        if mine > theirs:
            self._send_lease(local, remote.task or "", remote.change + 1)
            passed.uploaded += 1
        elif theirs > mine and not self._runs_here(local.row, place.name):
            self._node.mirror.write(place, remote)
            passed.changed += 1

    def _upload(self, place: Held, local: Sight, passed: Passed) -> None:
        """A job that the bucket does not have: pushed here while it was away, or by hand."""
        if self._ended(local.row.queue, place.name, local.row.generation):
            return
        task = task_object(_waiting(local))
        written = self._bucket.put_new(self._home.task(local.row.queue, place.name), task)
        if isinstance(written, str):
            passed.uploaded += 1
            if local.row.fence:
                self._send_lease(local, written, 1)

    def _send_lease(self, local: Sight, task: str, change: int) -> None:
        row = local.row
        body = hold_text(row, task, change, self._store.now(), local.turn)
        self._bucket.put(self._home.lease(row.queue, name_of(row.id)), body)

    def _remote(self, queue: str, name: str, task: Entry, lease: Entry | None) -> Sight | None:
        found = self._object(task)
        if found is None:
            return None
        row = row_of_task(parse(found.body), queue, text_of(name))
        content = None if lease is None else self._object(lease)
        change = 0
        if content is not None and lease is not None:
            hold = Hold.read(content)
            change = hold.change
            if not hold.over and hold.generation >= row.generation:
                hold.tell(row)
                self._by_age(row, lease)
        return Sight(row, found.etag, None if content is None else content.etag, change)

    def _by_age(self, row: Row, lease: Entry) -> None:
        """A lease lives as long as it was made for, from the moment when the bucket got it."""
        if row.expires_at is None or row.heartbeat_at is None:
            return
        length = row.expires_at - row.heartbeat_at
        age = max(0.0, self._bucket.clock().now() - lease.modified)
        row.expires_at = self._store.file_clock.now() + length - age

    def _object(self, entry: Entry) -> Object | None:
        """What an entry of a listing holds; read once for each version."""
        known = self._read.get(entry.key)
        if known is None or known.etag != entry.etag:
            found = self._bucket.get(entry.key)
            if found is None:
                return None
            known = self._read[entry.key] = found
        return known

    def _ended(self, queue: str, name: str, generation: int) -> bool:
        record = record_of(self._store, self._store.folders(queue), name)
        return record is not None and record.generation >= generation

    def _runs_here(self, row: Row, name: str) -> bool:
        """Whether one of this node's workers holds the job."""
        if row.state is not State.PROCESSING:
            return False
        index = self._node.desk.index
        foreign = index.path(row.worker or "", row.queue, name, row.fence, FOREIGN)
        return not self._store.disk.exists(foreign)


def _rank(row: Row) -> Rank:
    ended = row.state is not State.PROCESSING
    return row.generation, row.fence, ended, row.heartbeat_at or 0.0


def _waiting(local: Sight) -> Row:
    """The job as its task tells it: what happened since is told by its lease."""
    row = local.fork()
    row.own_facts = row.generation > 1
    if row.state is State.PROCESSING:
        row.state = State.PENDING
    return row


def _alike(one: Row, other: Row) -> bool:
    return (one.settled, one.finished_at, one.state) == (
        other.settled,
        other.finished_at,
        other.state,
    )


def _name(key: str) -> str:
    return key.rpartition("/")[2].removesuffix(".json")
