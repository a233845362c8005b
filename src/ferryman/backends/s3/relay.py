"""Relaxed: what this node did is carried to the bucket, what others did comes from there.

Nothing is decided in the bucket. Of two stories about one job the one that went further wins: the
higher generation, then the later body, then the higher fence, then the claim that ended, then the
later heartbeat.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Final

from ferryman.backends.files.document import Unreadable, parse
from ferryman.backends.files.moments import whole
from ferryman.backends.files.names import name_of
from ferryman.backends.files.place import held
from ferryman.backends.files.reading import find_in
from ferryman.backends.s3.arrivals import Arrivals
from ferryman.backends.s3.forgotten import Forgotten
from ferryman.backends.s3.hold import Hold, check_row, hold_text, row_of_task, task_object
from ferryman.backends.s3.listing import fits, list_pending
from ferryman.backends.s3.records import Records
from ferryman.backends.s3.sight import Sight
from ferryman.backends.s3.sync import Passed
from ferryman.job import State

if TYPE_CHECKING:
    from ferryman.backends.files.place import Held
    from ferryman.backends.files.row import Row
    from ferryman.backends.s3.answers import Entry, Object
    from ferryman.backends.s3.node import Node
    from ferryman.backends.s3.skew import Skew

SLACK: Final = 1.0
"""Seconds by which a heartbeat must be later to count as later, on clocks that differ."""


class Relay:
    """Carries jobs, leases and records between one node's files and the bucket.

    The bucket's times are the server's: rows are moved to them on the way up, and back down.
    """

    def __init__(self, node: Node, skew: Skew) -> None:
        self._node = node
        self._skew = skew
        self._store = node.store
        self._bucket = node.bucket
        self._home = node.home
        self._arrivals = Arrivals(node)
        self.forgotten = Forgotten(node)
        self.records = Records(node, skew, self._arrivals, self.forgotten)
        self._read: dict[str, Object] = {}

    def once(self) -> Passed:
        """Everything in both directions; results before anything else."""
        passed = Passed()
        for queue, name in list(self.forgotten.all()):
            self.forgotten.send(queue, name)
            passed.removed += 1
        self.records.send_all_superseded()
        self._node.registry.register_all(self._store.queues())
        for queue in self._node.sync.queues():
            self.queue(queue, passed)
        return passed

    def queue(self, queue: str, passed: Passed) -> None:
        """One queue in both directions."""
        self._store.make_queue(queue)
        self.records.exchange(queue, passed)
        tasks, leases = list_pending(self._node, queue, passed.unreadable)
        local = self._store.disk.names(self._store.folders(queue).pending) or ()
        names = {*tasks, *(name for name in local if fits(name))}
        passed.seen += len(names)
        for name in sorted(names):
            try:
                self._job(queue, name, tasks.get(name), leases.get(name), passed)
            except Unreadable as error:
                passed.unreadable[self._home.task(queue, name)] = str(error)
        self._node.troubles.note(queue, passed.unreadable, records=True)

    # -- at once, where the bucket answers

    def send_task(self, queue: str, name: str) -> None:
        """Carry a job that was just pushed or replaced here."""
        self.forgotten.send(queue, name)
        with held(self._store, self._store.folders(queue), name) as place:
            local = None if place is None else self._node.mirror.read(place)
        if local is None:
            return
        self.records.send_superseded(queue, name, local.row.generation)
        key, task = self._home.task(queue, name), task_object(self._waiting(local))
        if local.row.revision:
            self._bucket.put(key, task)
        else:
            self._bucket.put_new(key, task)

    # -- what was deleted here

    def note_gone(self, queue: str, name: str) -> bool:
        """Write down that a job was deleted; False if it is here, whoever brought it back."""
        if self._node.mirror.knows(queue, name):
            return False
        self.forgotten.add(queue, name)
        return True

    # -- jobs

    def _job(
        self, queue: str, name: str, task: Entry | None, lease: Entry | None, passed: Passed
    ) -> None:
        if self.forgotten.has(queue, name):
            return
        remote = None if task is None else self._remote(queue, name, task, lease)
        if remote is None:
            with held(self._store, self._store.folders(queue), name) as place:
                local = None if place is None else self._node.mirror.read(place)
                if place is not None and local is not None:
                    self._upload(place, local, passed)
                elif place is not None:
                    self._arrivals.clear(place)
        elif self._moved_on(queue, name, remote) or self._arrive(queue, name, remote, passed):
            # The end was carried, and then the task came back; or the job is in another queue.
            self._bucket.delete(self._home.task(queue, name), remote.task)
            passed.removed += 1

    def _arrive(self, queue: str, name: str, remote: Sight, passed: Passed) -> bool:
        """Bring this node and the bucket to one story of a job; whether it has ended here."""
        with self._arrivals.held(queue, name) as place:
            # Only now: until its name was held, anybody here could run the job to its end.
            record = self.records.of(queue, name)
            if record is not None and record.generation >= remote.row.generation:
                return True
            if record is not None:
                self.records.send_older(record)
            local = self._node.mirror.read(place)
            if local is not None:
                self._settle(place, local, remote, passed)
            elif not self._store.disk.exists("lease.json", place.lock):
                self._arrivals.job(place, None, remote)
                passed.changed += 1
        return False

    def _settle(self, place: Held, local: Sight, remote: Sight, passed: Passed) -> None:
        runs_here = self._arrivals.runs_here(local.row, place.name)
        if _further(local, remote):
            if local.row.state is State.PROCESSING and not runs_here:
                return  # whoever has it tells of it
            self.records.send_superseded(local.row.queue, place.name, local.row.generation)
            task = remote.task or ""
            if local.row.revision > remote.row.revision:
                key = self._home.task(local.row.queue, place.name)
                task = self._bucket.put(key, task_object(self._waiting(local)))
            self._send_lease(local, task, remote.change + 1)
            passed.uploaded += 1
        elif _further(remote, local) and not runs_here:
            self._arrivals.job(place, local, remote)
            passed.changed += 1

    def _upload(self, place: Held, local: Sight, passed: Passed) -> None:
        """A job that the bucket does not have: pushed here while it was away, or by hand."""
        record = self.records.of(local.row.queue, place.name)
        if record is not None and record.generation >= local.row.generation:
            return
        self.records.send_superseded(local.row.queue, place.name, local.row.generation)
        task = task_object(self._waiting(local))
        written = self._bucket.put_new(self._home.task(local.row.queue, place.name), task)
        if isinstance(written, str):
            passed.uploaded += 1
            if local.row.fence:
                self._send_lease(local, written, 1)

    def _send_lease(self, local: Sight, task: str, change: int) -> None:
        row = self._skew.up(local.fork())
        row.fence -= local.raised
        body = hold_text(row, task, change, self._bucket.clock().now(), local.turn)
        self._bucket.put(self._home.lease(row.queue, name_of(row.id)), body)

    def _remote(self, queue: str, name: str, task: Entry, lease: Entry | None) -> Sight | None:
        found = self._object(task)
        if found is None:
            return None
        row = row_of_task(parse(found.body), queue, name)
        check_row(row, name)
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


def _further(one: Sight, other: Sight) -> bool:
    """Whether one story of a job went further than the other."""
    mine, theirs = _rank(one), _rank(other)
    if mine != theirs:
        return mine > theirs
    return (one.row.heartbeat_at or 0.0) > (other.row.heartbeat_at or 0.0) + SLACK


def _rank(sight: Sight) -> tuple[int, int, int, bool]:
    row = sight.row
    waits = row.state is not State.PROCESSING
    return row.generation, row.revision, row.fence - sight.raised, waits
