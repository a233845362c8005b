"""Finding what no hint leads to: one pass over `pending`, and a full rebuild after a boot."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from typing import TYPE_CHECKING, Final

from ferryman.backends.files.cells import forget_old
from ferryman.backends.files.document import Unreadable
from ferryman.backends.files.edits import EVERY, Edits
from ferryman.backends.files.errors import lies_in
from ferryman.backends.files.finish import finish_if_ended
from ferryman.backends.files.ground import BOOT_MARK
from ferryman.backends.files.line import GRAIN
from ferryman.backends.files.names import is_ours, shown
from ferryman.backends.files.place import Place, held
from ferryman.backends.files.reading import find_in, read_waiting
from ferryman.backends.files.removal import mark_paused
from ferryman.backends.files.rivals import is_second
from ferryman.job import State

if TYPE_CHECKING:
    from ferryman.backends.files.desk import Desk
    from ferryman.backends.files.disk import Found
    from ferryman.backends.files.layout import Folders
    from ferryman.backends.files.place import Held

SHARE: Final = 20.0
"""A sweep rests this many times as long as it took: it never has over 5 % of the time."""
LITTER: Final = 3_600.0

_log = logging.getLogger("ferryman.files")


class Sweep:
    """The last pass over one queue: when it ended, how long it took, and what it saw."""

    __slots__ = ("ended_at", "lock", "seen", "took")

    def __init__(self) -> None:
        self.ended_at = float("-inf")
        self.took = 0.0
        self.seen = -1.0
        self.lock = threading.Lock()


class Sweeper:
    """Adopts jobs without hints and clears away litter. Polls that find too little call it."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._store = desk.store
        self._sweeps: dict[str, Sweep] = {}
        self._litter_at = float("-inf")
        self._told: set[str] = set()

    def sweep_if_due(self, folders: Folders) -> bool:
        """Sweep unless nothing changed or the last pass was just now; whether a job was found."""
        sweep = self._sweeps.setdefault(folders.queue, Sweep())
        steady = self._store.file_clock.monotonic
        if steady() - sweep.ended_at < sweep.took * SHARE or not sweep.lock.acquire(blocking=False):
            return False
        try:
            found = self._store.disk.look(folders.pending)
            edits = Edits(self._desk, folders)
            if found is None or (found.changed_at == sweep.seen and not edits.due):
                return False
            # Its own processor time: on a busy machine a short pass would seem long.
            started = time.thread_time()
            adopted, left = self.sweep(folders, edits if edits.due else None)
            sweep.took = time.thread_time() - started
            sweep.ended_at = steady()
            young = self._store.file_clock.now() - found.changed_at < GRAIN
            sweep.seen = -1.0 if young or left else found.changed_at
            return adopted > 0
        finally:
            sweep.lock.release()

    def overdue(self, queue: str) -> bool:
        """Whether a queue that is never empty should be swept all the same."""
        steady = self._store.file_clock.monotonic()
        sweep = self._sweeps.get(queue)
        if sweep is None:
            # A process that has just begun has time: what is in line comes first.
            sweep = self._sweeps[queue] = Sweep()
            sweep.ended_at = steady
        return steady - sweep.ended_at > max(EVERY, sweep.took * SHARE)

    def sweep(self, folders: Folders, edits: Edits | None = None) -> tuple[int, int]:
        """Look at every folder's mark; how many jobs were taken in, and how many not yet."""
        adopted = left = 0
        disk = self._store.disk
        if edits is not None:
            edits.begin()
        for name in disk.names(folders.pending) or ():
            found = None if name.startswith(".") else disk.look(f"{folders.pending}/{name}")
            if found is None:
                continue
            if found.folder and found.hinted:
                if edits is not None:
                    edits.look_at(name, found)
                continue
            taken = self._adopt(folders, name, found)
            adopted += taken
            left += not taken
        self._clear_pauses(folders)
        self._clear_litter()
        return adopted, left

    def rebuild_if_needed(self, folders: Folders) -> None:
        """After a boot, or when the hints were removed: write them all anew, one process only."""
        store, boot = self._store, f"{folders.ready}/{BOOT_MARK}"
        mark = store.mark_of(folders.queue)
        if store.disk.read(boot) == mark:
            return
        store.make_queue_again(folders.queue)
        lock = store.disk.lock(folders.ready)
        if lock is None:
            return
        try:
            if store.disk.read(boot) != mark:
                self.rebuild(folders)
                # Into the very folder that was filled, which somebody may have removed since.
                with contextlib.suppress(FileNotFoundError):
                    store.put_at(lock, folders.ready, BOOT_MARK, mark, sync=False)
        finally:
            store.disk.unlock(lock)

    def rebuild_deadlines(self, folders: Folders) -> None:
        """When the folder of deadlines was removed: those of all jobs are among their hints."""
        if self._store.disk.exists(folders.pending):
            self._store.make_queue_again(folders.queue)
            self.rebuild_if_needed(folders)

    def rebuild(self, folders: Folders) -> None:
        """Write the hints of every job; those that were there already are found to be served."""
        disk = self._store.disk
        for name in disk.names(folders.pending) or ():
            found = None if name.startswith(".") else disk.look(f"{folders.pending}/{name}")
            if found is None:
                continue
            if not (found.folder and found.hinted):
                self._adopt(folders, name, found)
                continue
            with held(self._store, folders, name) as place:
                if place is not None:
                    self._hint(place)

    def _hint(self, place: Held) -> None:
        adoption = self._desk.adoption
        try:
            row = read_waiting(self._store, place)
        except Unreadable as error:
            adoption.set_aside(place, str(error))
            return
        if row is None:
            adoption.adopt(place)
        elif not (
            finish_if_ended(self._store, place, row, trust_mark=False)
            or is_second(self._store, place, row)
        ):
            adoption.restore_hints(place, row)

    def _adopt(self, folders: Folders, name: str, found: Found) -> bool:
        path = folders.job(name)
        try:
            return self._take_in(folders, name, found)
        except OSError as error:
            # What cannot be set aside stays where it is.
            if not lies_in(error, path, folders.quarantine):
                raise
            if path not in self._told:
                self._told.add(path)
                _log.warning("queue %r: %s: %s", folders.queue, shown(path), error.strerror)
            return False

    def _take_in(self, folders: Folders, name: str, found: Found) -> bool:
        if not found.folder:
            return self._desk.adoption.take_file(folders, name)
        # A lock that is held: the job is in good hands.
        with (
            contextlib.suppress(BlockingIOError),
            held(self._store, folders, name, wait=False) as place,
        ):
            if place is not None and not is_ours(name):
                return self._desk.adoption.take_folder(place)
            if place is not None and not self._store.disk.hinted(place.lock):
                return self._desk.adoption.adopt(place)
        return False

    def _clear_pauses(self, folders: Folders) -> None:
        """Take back what says that a job is paused, where it is not."""
        for name in self._store.disk.names(folders.paused_jobs) or ():
            row = find_in(self._store, folders, name)
            if row is not None and row.state is State.PAUSED:
                continue
            with held(self._store, folders, name) as place:
                row = find_in(self._store, folders, name)
                if row is None or row.state is not State.PAUSED:
                    mark_paused(self._store, place or Place(folders, name), False)

    def _clear_litter(self) -> None:
        """Remove what writers that died have left in `.tmp` over an hour ago."""
        now = self._store.file_clock.now()
        if now - self._litter_at < LITTER:
            return
        self._litter_at = now
        forget_old(self._store)
        disk, tmp = self._store.disk, self._store.layout.tmp
        for name in disk.names(tmp) or ():
            path = f"{tmp}/{name}"
            found = disk.look(path)
            if found is None or now - found.changed_at < LITTER:
                continue
            if not found.folder:
                disk.unlink(path)
                continue
            self._clear_draft(path)

    def _clear_draft(self, path: str) -> None:
        """Remove a job that never appeared; one whose lock is held may yet, however late."""
        disk = self._store.disk
        with contextlib.suppress(BlockingIOError):
            lock = disk.try_lock(path)
            if lock is None:
                return
            try:
                for file in disk.names(path) or ():
                    disk.unlink(file, lock)
                disk.remove_folder(path)
            finally:
                disk.unlock(lock)
