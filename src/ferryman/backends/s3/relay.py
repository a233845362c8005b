"""Relaxed: what this node did is carried to the bucket, what others did comes from there.

Nothing is decided in the bucket. Of two stories about one job the one that went further wins: the
higher generation, then the later body, then the higher fence, then the claim that ended, then the
later heartbeat.
"""

from __future__ import annotations

import contextlib
from copy import copy
from typing import TYPE_CHECKING, Final

from ferryman.backends.files.document import Unreadable, parse
from ferryman.backends.files.layout import ENDS
from ferryman.backends.files.moments import whole
from ferryman.backends.files.names import name_of, text_of
from ferryman.backends.files.place import held
from ferryman.backends.files.reading import find_in, record_of
from ferryman.backends.s3.ends import Ends, alike
from ferryman.backends.s3.forgotten import Forgotten
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
    from ferryman.backends.s3.skew import Skew

FOREIGN: Final = "s3"
"""How the index names a lease that came from the bucket."""

SLACK: Final = 1.0
"""Seconds by which a heartbeat must be later to count as later, on clocks that differ."""


class Relay:
    """Carries jobs, leases and records between one node's files and the bucket.

    The bucket's times are the server's: rows are moved to them on the way up, and back down.
    """

    def __init__(self, node: Node, skew: Skew) -> None:
        self._node = node
        self._skew = skew
        self._forgotten = Forgotten(node.store)
        self._store = node.store
        self._bucket = node.bucket
        self._home = node.home
        self._ends = Ends(node)
        self._read: dict[str, Object] = {}
        self._compared: set[str] = set()

    def once(self) -> Passed:
        """Everything in both directions; results before anything else."""
        passed = Passed()
        for queue, name in list(self._forgotten.all()):
            self.send_gone(queue, name)
            passed.removed += 1
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
        """Carry a job that was just pushed or replaced here."""
        self.send_gone(queue, name)
        with held(self._store, self._store.folders(queue), name) as place:
            local = None if place is None else self._node.mirror.read(place)
        if local is None:
            return
        key, task = self._home.task(queue, name), task_object(self._waiting(local))
        if local.row.revision:
            self._bucket.put(key, task)
        else:
            self._bucket.put_new(key, task)

    def send_record(self, queue: str, name: str) -> bool:
        """Carry the end of a job; False if it has another end, and one of the two is a duplicate.

        The record first: then the task and the lease may go.
        """
        row = record_of(self._store, self._store.folders(queue), name)
        if row is None:
            return True
        self.send_gone(queue, name)
        stands = self._ends.carry(self._skew.up(row))
        if stands is not None:
            self._node.mirror.keep_record(self._skew.down(stands))
        self._bucket.delete_many([self._home.task(queue, name), self._home.lease(queue, name)])
        return not self._ends.doubled(queue, name)

    # -- what was deleted here

    def note_gone(self, queue: str, name: str) -> bool:
        """Write down that a job was deleted; False if it is here, whoever brought it back."""
        if self._node.mirror.knows(queue, name):
            return False
        self._forgotten.add(queue, name)
        return True

    def send_gone(self, queue: str, name: str) -> None:
        """Let the bucket forget what was deleted here, before the id begins another life."""
        if self._forgotten.has(queue, name):
            records = [self._home.record(queue, state, name) for state in ENDS]
            pending = [self._home.task(queue, name), self._home.lease(queue, name)]
            self._bucket.delete_many([*pending, *records])
            self._forgotten.done(queue, name)

    def records(self) -> set[tuple[str, str]]:
        """Queues and names of the finished jobs that are here."""
        disk, folders = self._store.disk, self._store.folders
        return {
            (queue, _name(file))
            for queue in self._store.queues()
            for state in ENDS
            for file in disk.names(folders(queue).ends[state]) or ()
        }

    # -- records

    def _records(self, queue: str, passed: Passed) -> None:
        disk, folders = self._store.disk, self._store.folders(queue)
        there: dict[str, tuple[State, Entry]] = {}
        here: dict[str, State] = {}
        for state in ENDS:
            prefix = self._home.record(queue, state, "").removesuffix(".json")
            there |= {_name(entry.key): (state, entry) for entry in self._bucket.list(prefix)}
            here |= {_name(file): state for file in disk.names(folders.ends[state]) or ()}
        both = here.keys() & there.keys()
        unlike = {name for name in both if self._unlike(queue, name, *there[name])}
        for name in sorted((here.keys() - there.keys()) | unlike):
            passed.records += 1
            passed.duplicates += not self.send_record(queue, name)
        for name in sorted(there.keys() - here.keys()):
            passed.changed += self._fetch_record(queue, there[name][0], name)

    def _unlike(self, queue: str, name: str, state: State, entry: Entry) -> bool:
        """Whether the record here is not the one in the bucket; asked once for each version."""
        if entry.etag in self._compared:
            return False
        row = record_of(self._store, self._store.folders(queue), name)
        if row is None:
            return False
        if not self._same_end(row, state, entry):
            return True
        self._compared.add(entry.etag)
        return False

    def _same_end(self, row: Row, state: State, entry: Entry) -> bool:
        if row.state is state and self._ends.etag(self._skew.up(row)) == entry.etag:
            return True
        found = self._object(entry)
        other = (
            None if found is None else read_record(found.body, row.queue, _name(entry.key), state)
        )
        return other is not None and other.generation == row.generation and alike(other, row)

    def _fetch_record(self, queue: str, state: State, name: str) -> bool:
        found = self._bucket.get(self._home.record(queue, state, name))
        row = None if found is None else read_record(found.body, queue, name, state)
        if row is None or self._forgotten.has(queue, name):
            return False
        row = self._skew.down(row)
        with held(self._store, self._store.folders(queue), name) as place:
            local = None if place is None else self._node.mirror.read(place)
            if local is not None and local.row.generation > row.generation:
                return False
            if local is not None and self._runs_here(local.row, name):
                return False  # its own end will be a duplicate
            # A worker that had it until now has just ended it: the next pass compares the two.
            if self._ended(queue, name, row.generation):
                return False
            self._node.mirror.keep_record(row)
            if place is not None:
                self._node.mirror.drop(place, local)
        return True

    # -- jobs

    def _job(
        self, queue: str, name: str, task: Entry | None, lease: Entry | None, passed: Passed
    ) -> None:
        if self._forgotten.has(queue, name):
            return
        remote = None if task is None else self._remote(queue, name, task, lease)
        if remote is not None and (
            self._ended(queue, name, remote.row.generation) or self._moved_on(queue, name, remote)
        ):
            # The end was carried, and then the task came back; or the job is in another queue.
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
        if _further(local.row, remote.row):
            task = remote.task or ""
            if local.row.revision > remote.row.revision:
                key = self._home.task(local.row.queue, place.name)
                task = self._bucket.put(key, task_object(self._waiting(local)))
            self._send_lease(local, task, remote.change + 1)
            passed.uploaded += 1
        elif _further(remote.row, local.row) and not self._runs_here(local.row, place.name):
            self._node.mirror.write(place, remote)
            passed.changed += 1

    def _upload(self, place: Held, local: Sight, passed: Passed) -> None:
        """A job that the bucket does not have: pushed here while it was away, or by hand."""
        if self._ended(local.row.queue, place.name, local.row.generation):
            return
        task = task_object(self._waiting(local))
        written = self._bucket.put_new(self._home.task(local.row.queue, place.name), task)
        if isinstance(written, str):
            passed.uploaded += 1
            if local.row.fence:
                self._send_lease(local, written, 1)

    def _send_lease(self, local: Sight, task: str, change: int) -> None:
        row = self._skew.up(local.row)
        body = hold_text(row, task, change, self._bucket.clock().now(), local.turn)
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
                row = self._skew.down(row)
                self._by_age(row, lease)
                return Sight(row, found.etag, content.etag, change)
        row = self._skew.down(row)
        return Sight(row, found.etag, None if content is None else content.etag, change)

    def _by_age(self, row: Row, lease: Entry) -> None:
        """A lease lives as long as it was made for, from the moment when the bucket got it."""
        if row.expires_at is None or row.heartbeat_at is None:
            return
        length = row.expires_at - row.heartbeat_at
        # The stamp of a listing counts whole seconds.
        age = max(0.0, self._bucket.clock().now() - lease.modified - 1.0)
        row.expires_at = whole(self._store.now() + length - age)

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

    def _moved_on(self, queue: str, name: str, remote: Sight) -> bool:
        """Whether the job was replaced here by one in another queue."""
        folders = self._store.folders
        if self._store.disk.exists(folders(queue).job(name)):
            return False
        others = [each for each in self._store.queues() if each != queue]
        rows = [find_in(self._store, folders(each), name) for each in others]
        return any(row is not None and row.revision > remote.row.revision for row in rows)

    def _waiting(self, local: Sight) -> Row:
        """The job as its task tells it: what happened since is told by its lease."""
        row = copy(self._skew.up(local.row))
        row.own_facts = row.generation > 1
        if row.state is State.PROCESSING:
            row.state = State.PENDING
        return row

    def _runs_here(self, row: Row, name: str) -> bool:
        """Whether one of this node's workers holds the job."""
        if row.state is not State.PROCESSING:
            return False
        index = self._node.desk.index
        foreign = index.path(row.worker or "", row.queue, name, row.fence, FOREIGN)
        return not self._store.disk.exists(foreign)


def _further(one: Row, other: Row) -> bool:
    """Whether one story of a job went further than the other."""
    mine, theirs = _rank(one), _rank(other)
    if mine != theirs:
        return mine > theirs
    return (one.heartbeat_at or 0.0) > (other.heartbeat_at or 0.0) + SLACK


def _rank(row: Row) -> tuple[int, int, int, bool]:
    return row.generation, row.revision, row.fence, row.state is not State.PROCESSING


def _name(key: str) -> str:
    return key.rpartition("/")[2].removesuffix(".json")
