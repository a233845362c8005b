"""Relaxed: how jobs ended, carried to the bucket and from there."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from ferryman.backends.files.document import Unreadable, parse
from ferryman.backends.files.layout import ENDS
from ferryman.backends.files.names import name_of
from ferryman.backends.files.reading import record_of
from ferryman.backends.s3.ends import Ends, alike
from ferryman.backends.s3.hold import row_of_record, row_of_task
from ferryman.backends.s3.listing import list_records, records_of
from ferryman.backends.s3.sight import read_record
from ferryman.backends.s3.superseded import Superseded

if TYPE_CHECKING:
    from ferryman.backends.files.place import Held
    from ferryman.backends.files.row import Row
    from ferryman.backends.s3.answers import Entry
    from ferryman.backends.s3.arrivals import Arrivals
    from ferryman.backends.s3.forgotten import Forgotten
    from ferryman.backends.s3.node import Node
    from ferryman.backends.s3.sight import Sight
    from ferryman.backends.s3.skew import Skew
    from ferryman.backends.s3.sync import Passed
    from ferryman.job import State


class Records:
    """Finished records of one node and of the bucket, which come to be the same."""

    def __init__(self, node: Node, skew: Skew, arrivals: Arrivals, forgotten: Forgotten) -> None:
        self._node = node
        self._store = node.store
        self._mirror = node.mirror
        self._bucket = node.bucket
        self._home = node.home
        self._skew = skew
        self._arrivals = arrivals
        self._forgotten = forgotten
        self._ends = Ends(node)
        self._superseded = Superseded(node.store)
        self._compared: set[tuple[str, int, float]] = set()

    def exchange(self, queue: str, passed: Passed) -> None:
        """Those of one queue, in both directions."""
        disk, folders = self._store.disk, self._store.folders(queue)
        there: dict[str, tuple[State, Entry]] = {}
        here: dict[str, State] = {}
        unlike: set[str] = set()
        for state in ENDS:
            listed = list_records(self._node, queue, state, passed.unreadable)
            found = {name: (state, entry) for name, entry in listed.items()}
            # Two ends of one job: whoever carried the second one died before it chose.
            unlike |= there.keys() & found.keys()
            there |= found
            here |= dict.fromkeys(records_of(disk.names(folders.ends[state]) or ()), state)
        both = here.keys() & there.keys()
        unlike = unlike & both
        unlike |= {
            name for name in both - unlike if self._unlike(queue, name, here[name], *there[name])
        }
        for name in sorted((here.keys() - there.keys()) | unlike):
            passed.records += 1
            passed.duplicates += not self.send(queue, name)
        for name in sorted(there.keys() - here.keys()):
            try:
                passed.changed += self._fetch(queue, there[name][0], name)
            except Unreadable as error:
                passed.unreadable[there[name][1].key] = str(error)

    def send(self, queue: str, name: str) -> bool:
        """Carry the end of a job; False if it has another end, and one of the two is a duplicate.

        The record first: then the task and the lease may go.
        """
        row = self.of(queue, name)
        if row is None:
            return True
        self._forgotten.send(queue, name)
        self.send_superseded(queue, name, row.generation)
        stands, alone = self._ends.carry(self._skew.up(row))
        if stands is not None:
            self._replace(self._skew.down(stands))
        if alone:
            self._bucket.delete_many([self._home.task(queue, name), self._home.lease(queue, name)])
        else:
            self._clear(queue, name, row.generation)
        return not self._ends.doubled(queue, name)

    def of(self, queue: str, name: str) -> Row | None:
        """How a job ended here."""
        return record_of(self._store, self._store.folders(queue), name)

    def names(self) -> set[tuple[str, str]]:
        """Queues and names of the finished jobs that are here."""
        disk, folders = self._store.disk, self._store.folders
        return {
            (queue, name)
            for queue in self._store.queues()
            for state in ENDS
            for name in records_of(disk.names(folders(queue).ends[state]) or ())
        }

    # -- ends of earlier generations

    def note_retry(self, queue: str, name: str) -> None:
        """Before a retry takes an end away: the bucket must learn of it all the same."""
        row = self.of(queue, name)
        if row is not None:
            self._superseded.add(row)

    def send_all_superseded(self) -> None:
        """Carry all ends that were retried here."""
        for queue, name, generation in list(self._superseded.all()):
            self.send_superseded(queue, name, generation + 1)

    def send_superseded(self, queue: str, name: str, generation: int) -> None:
        """Carry the ends before a generation, which were retried here, before anything of it."""
        for row in self._superseded.before(queue, name, generation):
            self._ends.carry(self._skew.up(row))
            self._superseded.done(row)

    def send_older(self, record: Row) -> None:
        """Carry an end before a job that was retried elsewhere takes its place."""
        self._ends.carry(self._skew.up(record))

    # -- parts

    def _unlike(self, queue: str, name: str, mine: State, state: State, entry: Entry) -> bool:
        """Whether the record here is not the one in the bucket; asked once for two versions."""
        found = self._store.disk.look(self._store.folders(queue).record(mine, name))
        if found is None:
            return False
        versions = entry.etag, found.inode, found.changed_at
        if versions in self._compared:
            return False
        row = self.of(queue, name)
        if row is not None and not self._same_end(row, state, entry):
            return True
        self._compared.add(versions)
        return False

    def _same_end(self, row: Row, state: State, entry: Entry) -> bool:
        if row.state is state and self._ends.etag(self._skew.up(row)) == entry.etag:
            return True
        found = self._bucket.get(entry.key)
        other = (
            None if found is None else read_record(found.body, row.queue, _name(entry.key), state)
        )
        return other is not None and other.generation == row.generation and alike(other, row)

    def _fetch(self, queue: str, state: State, name: str) -> bool:
        found = self._bucket.get(self._home.record(queue, state, name))
        if found is None or self._forgotten.has(queue, name):
            return False
        row = self._skew.down(row_of_record(found.body, queue, name, state))
        with self._arrivals.held(queue, name) as place:
            local = self._mirror.read(place)
            if self._goes_on(place, local, row):
                return False
            known = self.of(queue, name)
            if known is not None and known.generation >= row.generation:
                # A worker that had it until now has just ended it: the next pass compares the two.
                return False
            self._arrivals.record(place, local, row)
        return True

    def _replace(self, row: Row) -> None:
        """Keep the end that stands in the place of this node's own."""
        with self._arrivals.held(row.queue, name_of(row.id)) as place:
            local = self._mirror.read(place)
            if not self._goes_on(place, local, row):
                self._arrivals.record(place, local, row)

    def _goes_on(self, place: Held, local: Sight | None, ended: Row) -> bool:
        """Whether a job is not over here by an end elsewhere: it was retried, or it runs here.

        The end of what runs here will be a duplicate.
        """
        if local is None:
            return self._store.disk.exists("lease.json", place.lock)
        retried = local.row.generation > ended.generation
        return retried or self._arrivals.runs_here(local.row, place.name)

    def _clear(self, queue: str, name: str, generation: int) -> None:
        """Take away the task of a job that ended, unless that was retried elsewhere."""
        found = self._bucket.get(self._home.task(queue, name))
        if found is not None:
            with contextlib.suppress(Unreadable):
                row = row_of_task(parse(found.body), queue, name)
                if row.generation > generation:
                    return
            self._bucket.delete(self._home.task(queue, name), found.etag)
        self._bucket.delete(self._home.lease(queue, name))


def _name(key: str) -> str:
    return key.rpartition("/")[2].removesuffix(".json")
