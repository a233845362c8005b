"""Keeping the local tree like the bucket, and the bucket tidy; nobody but this lists.

It never takes anything away because it is missing on the other side: what a listing does not show
is asked for by name, and a local job that the bucket does not know is set aside with the reason.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from ferryman.backends.files.document import Unreadable
from ferryman.backends.files.layout import ENDS
from ferryman.backends.files.place import Place, held
from ferryman.backends.s3.errors import UnreadableObject
from ferryman.backends.s3.finish import finish, fresh
from ferryman.backends.s3.hold import row_of_record
from ferryman.backends.s3.listing import fits, list_pending, list_records, records_of
from ferryman.backends.s3.sight import see, see_ended
from ferryman.backends.s3.stamp import INTERVAL, TOMBSTONE, Stamp
from ferryman.backends.s3.upload import upload
from ferryman.job import State

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferryman.backends.files.row import Row
    from ferryman.backends.s3.answers import Entry
    from ferryman.backends.s3.node import Node
    from ferryman.backends.s3.sight import Sight

FRESH: Final = TOMBSTONE / 2
"""A node that has not looked for so long may not claim: jobs may have ended without a trace."""
LOOK: Final = 5.0
"""Seconds between two looks for jobs that other nodes pushed, while there is nothing to do."""
SHARE: Final = 20.0
"""A look rests this many times as long as it took."""


@dataclass(slots=True)
class Passed:
    """What one pass did."""

    seen: int = 0
    changed: int = 0
    finished: int = 0
    uploaded: int = 0
    removed: int = 0
    set_aside: int = 0
    records: int = 0
    duplicates: int = 0
    unreadable: dict[str, str] = field(default_factory=dict)
    """Reasons by key."""

    def facts(self) -> Mapping[str, int | Sequence[str]]:
        told = [f"{key}: {reason}" for key, reason in sorted(self.unreadable.items())]
        return asdict(self) | {"unreadable": told}


class Sync:
    """The passes and looks of one process; `.sync/` in the root says when the node's last one was.

    One process of a node at a time makes a pass.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._store = node.store
        self._folder = f"{node.store.layout.root}/.sync"
        self._ended: dict[str, tuple[str, float]] = {}
        self._looks: dict[str, tuple[float, float]] = {}
        self._stamp = Stamp(node, self._folder)

    def at_least_fresh(self) -> None:
        """Before a claim: what ended elsewhere must be known, or still have its tombstone."""
        if self._stamp.age() > FRESH:
            with self._locked(wait=True):
                if self._stamp.age() > FRESH:
                    self._pass(history=True)

    def know_all(self) -> None:
        """Nothing can have been overlooked: the store has just been made, and so was the root."""
        if self._store.queues():
            return
        self._store.disk.make_folder(self._folder)
        self._stamp.put(self._stamp.now(), listed=True)

    def at_least_recent(self) -> None:
        """Make a pass if the last one was a minute ago and nobody else of this node is at it."""
        if self._stamp.age() > INTERVAL:
            with self._locked(wait=False) as locked:
                if locked and self._stamp.age() > INTERVAL:
                    self._pass(history=self._stamp.history_due())

    @property
    def age(self) -> float | None:
        """Seconds since the node's last pass; None before the first."""
        age = self._stamp.age()
        return None if age == float("inf") else age

    def once(self) -> Passed:
        """One pass now."""
        self._node.mark.make()
        with self._locked(wait=True):
            return self._pass(history=True)

    def queues(self) -> Sequence[str]:
        """Every queue that the bucket or this node knows."""
        return sorted(self._node.registry.queues() | set(self._store.queues()))

    def look(self, queue: str) -> bool:
        """List a queue's jobs if the last look was a while ago; whether anything was new."""
        ended, took = self._looks.get(queue, (float("-inf"), 0.0))
        if time.monotonic() - ended < max(LOOK, took * SHARE):
            return False
        # Before the listing: other threads need not look as well.
        self._looks[queue] = (time.monotonic(), took)
        passed = Passed()
        self._pending(queue, passed)
        return passed.changed > 0

    def refresh(self, queue: str) -> None:
        """List a queue's jobs now."""
        self._pending(queue, Passed())

    def resolve_doubts(self) -> None:
        """Look up the jobs that somebody of this node was changing and has not shown yet."""
        doubts = list(self._node.doubts.all())
        jobs = list({(doubt.queue, name) for doubt in doubts for name in doubt.jobs})
        shown = dict(zip(jobs, self._node.each(self._resolve, jobs), strict=True))
        for doubt in doubts:
            if all(shown[doubt.queue, name] for name in doubt.jobs):
                self._node.doubts.end(doubt.queue, doubt.name)

    def _resolve(self, job: tuple[str, str]) -> bool:
        """Look up one; False if somebody holds its lock, who is at it and shows it."""
        queue, name = job
        try:
            with held(self._store, self._store.folders(queue), name, wait=False):
                pass
        except BlockingIOError:
            return False
        with contextlib.suppress(UnreadableObject):  # the passes name it
            self._refresh(queue, name, Passed())
        return True

    def next_look(self, queue: str) -> float:
        """Seconds until a look at a queue is due."""
        ended, took = self._looks.get(queue, (float("-inf"), 0.0))
        return max(0.0, ended + max(LOOK, took * SHARE) - time.monotonic())

    # -- one pass

    def _pass(self, *, history: bool) -> Passed:
        began, away = self._stamp.now(), self._stamp.away()
        passed = Passed()
        queues = self.queues()
        self._node.pausing.refresh(queues)
        for queue in queues:
            self._pending(queue, passed)
            if history:
                self._records(queue, passed, away)
        if history:
            passed.removed += self._node.cells.forget_old()
        self._stamp.put(began, listed=history)
        return passed

    def _pending(self, queue: str, passed: Passed) -> None:
        """Bring the unfinished jobs of a queue up to date."""
        began = time.monotonic()
        tasks, leases = list_pending(self._node, queue, passed.unreadable)
        self._node.each(
            partial(self._job, queue, tasks, leases, passed),
            sorted({*tasks, *leases, *self._local(queue)}),
        )
        self._node.troubles.note(queue, passed.unreadable, records=False)
        self._looks[queue] = (time.monotonic(), time.monotonic() - began)

    def _local(self, queue: str) -> Sequence[str]:
        """The names in the local tree; folders that people named as we would not are taken in."""
        pending = self._store.folders(queue).pending
        names = self._store.disk.names(pending) or ()
        if not all(fits(name) or name.startswith(".") for name in names):
            self._node.desk.sweep(queue)
            names = self._store.disk.names(pending) or ()
        return [name for name in names if fits(name)]

    def _job(
        self,
        queue: str,
        tasks: dict[str, Entry],
        leases: dict[str, Entry],
        passed: Passed,
        name: str,
    ) -> None:
        task, lease = tasks.get(name), leases.get(name)
        passed.seen += 1
        try:
            folders = self._store.folders(queue)
            here = task is not None or self._store.disk.exists(folders.job(name))
            local = self._node.mirror.read(Place(folders, name)) if here else None
            by_people = local is not None and local.by_people
            if task is None and lease is not None and not by_people:
                self._tombstone(queue, name, lease, passed)
            elif task is None and (local is None or by_people):
                self._upload(queue, name, passed)
            elif not _same(local, task, lease) or not self._led(local):
                self._refresh(queue, name, passed)
        except UnreadableObject as unreadable:
            passed.unreadable[unreadable.key] = unreadable.reason

    def _led(self, local: Sight | None) -> bool:
        leased = local is not None and local.row.state is State.PROCESSING
        return not leased or local is None or self._node.mirror.indexed(local)

    def _refresh(self, queue: str, name: str, passed: Passed) -> None:
        sight = see(self._node, queue, name)
        if sight is None:
            self._set_aside(queue, name, passed)
            return
        self._show(queue, name, sight, passed)

    def _show(self, queue: str, name: str, sight: Sight, passed: Passed) -> None:
        passed.changed += 1
        if not sight.gone and not sight.row.state.terminal:
            # A record of an earlier life of the id, which would hide this one, may be known here.
            folders = self._store.folders(queue)
            for state in ENDS:
                if self._store.disk.exists(folders.record(state, name)):
                    self._record(queue, state, passed, name)
        if sight.owed and not fresh(self._node, sight):
            passed.finished += 1
            finish(self._node, sight)
        else:
            self._node.mirror.keep(sight)

    def _tombstone(self, queue: str, name: str, lease: Entry, passed: Passed) -> None:
        """A `lease.json` without a task: show how the job ended, and remove it when it is old."""
        known = self._ended.get(lease.key)
        if known is None or known[0] != lease.etag:
            found = self._node.bucket.get(lease.key)
            if found is None:
                return
            sight = see_ended(queue, name, found)
            at = lease.modified if sight is None else sight.at
            if sight is not None and sight.gone:
                # The id may have begun another life, as a record that was restored.
                sight = see(self._node, queue, name) or sight
            if sight is not None and sight.task is not None:
                self._show(queue, name, sight, passed)
                return  # pushed again since the listing
            if sight is not None:
                self._node.mirror.keep(sight)
                passed.changed += 1
            known = self._ended[lease.key] = (found.etag, at)
            if sight is None and self._node.bucket.clock().now() - at < TOMBSTONE:
                return  # a claim that came late; the job may be about to appear again
        if known[1] < self._store.now() - TOMBSTONE:
            self._node.bucket.delete(lease.key, known[0])
            self._ended.pop(lease.key, None)
            passed.removed += 1

    def _upload(self, queue: str, name: str, passed: Passed) -> None:
        """A job that people put into the local tree."""
        folders = self._store.folders(queue)
        with (
            contextlib.suppress(BlockingIOError),
            held(self._store, folders, name, wait=False) as place,
        ):
            if place is None or not self._node.desk.adoption.adopt(place):
                return
            local = self._node.mirror.read(place)
            if local is not None and local.by_people:
                passed.uploaded += upload(self._node, place, local) is not None

    def _set_aside(self, queue: str, name: str, passed: Passed) -> None:
        """A job that the bucket does not know: neither its task nor its end."""
        with held(self._store, self._store.folders(queue), name) as place:
            if place is None:
                return
            local = self._node.mirror.read(place)
            if local is None:
                if self._node.mirror.mirrors(place):
                    # A process died while it wrote this, and the job is over since.
                    self._node.mirror.drop(place, None)
                return
            reason = (
                f"the job {local.row.id!r} is no longer in the bucket: it was deleted while this "
                "machine was away, or the bucket was emptied"
            )
            if self._node.desk.adoption.set_aside(place, reason):
                passed.set_aside += 1

    # -- finished records

    def _records(self, queue: str, passed: Passed, away: float) -> None:
        """Fetch the records that are new here; forget those that were pruned or deleted.

        Those too that were written since `away`: a job may have been retried and have ended again.
        """
        disk, folders = self._store.disk, self._store.folders(queue)
        for state in ENDS:
            there = list_records(self._node, queue, state, passed.unreadable)
            here = records_of(disk.names(folders.ends[state]) or ())
            fetch = partial(self._record, queue, state, passed)
            new = {name for name in there if name not in here or there[name].modified >= away}
            passed.records += sum(self._node.each(fetch, sorted(new)))
            passed.removed += sum(self._node.each(fetch, sorted(here - there.keys())))
        self._node.troubles.note(queue, passed.unreadable, records=True)

    def _record(self, queue: str, state: State, passed: Passed, name: str) -> bool:
        key = self._node.home.record(queue, state, name)
        found = self._node.bucket.get(key)
        if found is None:
            folders = self._store.folders(queue)
            return self._store.disk.unlink(folders.record(state, name))
        try:
            row = row_of_record(found.body, queue, name, state)
        except Unreadable as error:
            passed.unreadable[key] = str(error)
            return False
        if self._lives_on(row, name):
            # Who retried it died before this was removed.
            self._node.bucket.delete(key, found.etag)
            return self._store.disk.unlink(self._store.folders(queue).record(state, name))
        self._node.mirror.keep_record(row)
        return True

    def _lives_on(self, row: Row, name: str) -> bool:
        """Whether a job that was retried waits or runs: as known here, and in the bucket still."""
        living = self._node.mirror.read(Place(self._store.folders(row.queue), name))
        if living is None or living.row.generation <= row.generation:
            return False
        task = self._node.bucket.get(self._node.home.task(row.queue, name))
        return task is not None and task.etag == living.task

    @contextlib.contextmanager
    def _locked(self, *, wait: bool) -> Iterator[bool]:
        disk = self._store.disk
        disk.make_folder(self._folder)
        try:
            lock = disk.lock(self._folder) if wait else disk.try_lock(self._folder)
        except BlockingIOError:
            yield False
            return
        try:
            yield lock is not None
        finally:
            if lock is not None:
                disk.unlock(lock)


def _same(local: Sight | None, task: Entry | None, lease: Entry | None) -> bool:
    if local is None or task is None or local.task != task.etag:
        return False
    # A hold of the id's earlier life may stand there unseen.
    return lease is None or local.hold == lease.etag
