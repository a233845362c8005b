"""Relaxed: how jobs and ends that others carried to the bucket enter this node's files.

A job has a lock only while it has a folder. One that arrives may have none: then a folder without a
task, which is no job, keeps its name until it is clear what becomes of it. So whatever arrives is
compared with what this node did, and written, in one step for all processes of the node: nothing
that arrives can be laid over a claim or an end that came in between.
"""

from __future__ import annotations

import contextlib
from copy import copy
from typing import TYPE_CHECKING, Final

from ferryman.backends.files.finish import drop_older_records
from ferryman.backends.files.place import Held
from ferryman.backends.files.reading import record_of
from ferryman.backends.files.removal import remove_job
from ferryman.job import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.backends.files.row import Row
    from ferryman.backends.s3.node import Node
    from ferryman.backends.s3.sight import Sight

FOREIGN: Final = "s3"
"""How the index names a lease that came from the bucket."""

_KEEPS_PLACE: Final = "ask.json"
"""A folder must not be empty, or a push could move its own over it. Without a lease nobody asks."""


class Arrivals:
    """Lets in what comes from the bucket, with claims numbered above all that were made here."""

    def __init__(self, node: Node) -> None:
        self._index = node.desk.index
        self._mirror = node.mirror
        self._store = node.store

    @contextlib.contextmanager
    def held(self, queue: str, name: str) -> Iterator[Held]:
        """Hold a job's name for the block, whether or not the job is here."""
        place = self._hold(queue, name)
        try:
            yield place
        finally:
            if not self._store.disk.exists("task.json", place.lock):
                remove_job(self._store, place)
            self._store.disk.unlock(place.lock)

    def job(self, place: Held, local: Sight | None, remote: Sight) -> None:
        """Show a job as the bucket tells it, in the place of what was here before."""
        folders, name = place.folders, place.name
        used = self._used(place, local)
        if remote.row.state is State.PROCESSING:
            used += 1  # its own number, too, must be another than that of any claim made here
        remote.raised = max(0, used - remote.row.fence)
        remote.row.fence += remote.raised
        self._mirror.show(place, local, remote)
        # Last: until then it says which numbers were used.
        drop_older_records(self._store, folders, name, remote.row.generation)

    def record(self, place: Held, local: Sight | None, row: Row) -> None:
        """Show how a job ended, in the place of what was here before."""
        row = copy(row)
        row.fence = max(row.fence, self._used(place, local))
        # A job with its mark is not over: a crash before the next step leaves it to the sweeper.
        self._store.disk.set_hinted(place.lock, False)
        self._mirror.keep_record(row)
        self._mirror.drop(place, local)

    def clear(self, place: Held) -> None:
        """Take away what a process that died has left of a job that ended."""
        no_job = not self._store.disk.exists("task.json", place.lock)
        if no_job and self._store.ended(place.folders, place.name):
            remove_job(self._store, place)

    def runs_here(self, row: Row, name: str) -> bool:
        """Whether one of this node's workers holds the job."""
        if row.state is not State.PROCESSING:
            return False
        foreign = self._index.path(row.worker or "", row.queue, name, row.fence, FOREIGN)
        return not self._store.disk.exists(foreign)

    def _used(self, place: Held, local: Sight | None) -> int:
        """The highest number that a claim made on this node can have had."""
        record = record_of(self._store, place.folders, place.name)
        used = 0 if record is None else record.fence
        if local is None:
            return used
        # What runs here is never replaced, so a lease is another node's.
        leased = local.row.state is State.PROCESSING
        return max(used, local.row.fence - leased)

    def _hold(self, queue: str, name: str) -> Held:
        disk, folders = self._store.disk, self._store.make_queue(queue)
        while True:
            lock = disk.lock(folders.job(name))
            if lock is None:
                disk.make_folder(folders.job(name))
                continue
            try:
                if not disk.exists("task.json", lock):
                    with contextlib.suppress(FileExistsError):
                        disk.create(_KEEPS_PLACE, b"{}\n", sync=False, at=lock)
                return Held(folders, name, lock)
            except FileNotFoundError:
                disk.unlock(lock)  # somebody took the folder away while this waited for it
            except BaseException:
                disk.unlock(lock)
                raise
