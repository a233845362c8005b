"""What every verb works with: the disk, the layout, the time, and safe ways to write."""

from __future__ import annotations

import contextlib
import os
import threading
from itertools import count
from typing import TYPE_CHECKING

from ferryman.backends.files.baton import MOST, Baton
from ferryman.backends.files.disk import SyncFailed
from ferryman.backends.files.errors import translate
from ferryman.backends.files.ground import Ground
from ferryman.backends.files.layout import Layout
from ferryman.backends.files.mended import MendedDisk
from ferryman.backends.files.moments import not_after, whole
from ferryman.backends.files.names import is_cut, is_ours, name_of, text_of
from ferryman.backends.files.process import this_process
from ferryman.backends.files.times import FileClock
from ferryman.clock import SystemClock
from ferryman.errors import BackendUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.files.disk import Disk
    from ferryman.backends.files.layout import Folders
    from ferryman.backends.files.lease import Lease
    from ferryman.backends.files.place import Held
    from ferryman.clock import Clock
    from ferryman.errors import BackendError


BOOT = "/proc/sys/kernel/random/boot_id"


class Verb:
    """The block of a verb. A generator would take longer than many of the calls inside it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __enter__(self) -> None:
        return None

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, OSError):
            raise self._store.fail(error) from error


class Store:
    """One root, opened by one process. Thread-safe: threads exclude each other by the same locks.

    `boot` is None where leases are judged by the store's time alone: with an injected clock, and
    between machines, whose boots say nothing about each other.
    """

    def __init__(self, root: str, disk: Disk, clock: Clock, *, shared: bool = False) -> None:
        self.layout = Layout(root)
        self._token = os.urandom(5).hex()
        self._numbers = count()
        self.this_boot = (disk.read(BOOT) or b"").decode().strip()
        self._ground = Ground(disk, self.layout, self.this_boot, self.nonce)
        self.disk: Disk = MendedDisk(disk, self._ground)
        self._probe = f"{self.layout.tmp}/clock-{self._token}"
        self.file_clock = FileClock(self.disk, self._probe, shared=shared)
        real = isinstance(clock, SystemClock)
        self.clock: Clock = self.file_clock if real else clock
        self.boot = self.this_boot if real and not shared and self.this_boot else None
        self._made: set[str] = set()
        self._queues: tuple[float, Sequence[str]] = (-1.0, ())
        self._seq = 0
        self._lock = threading.Lock()
        self._local = threading.local()
        # Calls over a network take so long that threads do not get in each other's way.
        self.baton = Baton(0.0 if shared else MOST)
        # What lists had to leave out: the queue of each path, and why.
        self.left_out: dict[str, tuple[str, str]] = {}
        self._broken: str | None = None
        self._verb = Verb(self)

    # -- time, numbers, names

    def now(self) -> float:
        """The store's time in whole microseconds."""
        clock = self.clock
        return clock.now() if clock is self.file_clock else not_after(clock.now())

    def next_seq(self, now: float) -> int:
        """The place in the push order: microseconds, and never the same twice in a process."""
        with self._lock:
            self._seq = max(self._seq + 1, round(now * 1e6))
            return self._seq

    def nonce(self) -> str:
        """A name that nobody else uses; the process number tells forks apart."""
        return f"{this_process.number:x}-{self._token}-{next(self._numbers):x}"

    def expired(self, lease: Lease, now: float) -> bool:
        """Whether a lease is over: by this boot's steady clock where that can be said."""
        if self.boot is None or lease.boot is None or lease.until is None:
            return lease.expires_at <= now
        return lease.boot != self.boot or lease.until <= self.clock.monotonic()

    def prolong(self, lease: Lease, now: float, seconds: float) -> None:
        lease.heartbeat_at = now
        lease.expires_at = whole(now + seconds)
        if self.boot is not None:
            lease.boot = self.boot
            # The same moment by both clocks, however long ago `now` was asked for.
            lease.until = int(self.file_clock.steady(lease.expires_at) * 1e6) / 1e6

    # -- verbs

    def verb(self) -> Verb:
        """Around every verb: trouble of the disk becomes an error of the contract."""
        if self._broken is not None:
            raise BackendUnavailable(self._broken)
        self._local.committed = False
        return self._verb

    def commit(self) -> None:
        """From here on the verb may have done a part of its work."""
        self._local.committed = True

    def fail(self, error: OSError) -> BackendError:
        """What a verb raises for an error of the disk; after a failed fsync there is no more.

        A failed fsync counts also where clearing up after it failed as well.
        """
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, SyncFailed):
            cause = cause.__context__
        error = error if cause is None else cause
        translated = translate(error, self.layout.root, committed=self._local.committed)
        if isinstance(error, SyncFailed):
            self._broken = str(translated)
        return translated

    # -- queues

    def queues(self) -> Sequence[str]:
        """The queues that exist; the root is listed again when it has changed."""
        found = self.disk.look(self.layout.root)
        if found is None:
            raise FileNotFoundError(2, "the folder of the queues is gone", self.layout.root)
        seen, queues = self._queues
        if found.changed_at != seen:
            names = self.disk.names(self.layout.root) or ()
            queues = [self.queue_of(name) for name in sorted(names) if self._is_queue(name)]
            # Within the grain of its stamps a folder can change unnoticed: look again next time.
            young = self.file_clock.now() - found.changed_at < 0.1
            self._queues = (-1.0 if young else found.changed_at, queues)
        return queues

    def _is_queue(self, name: str) -> bool:
        """Whether a name in the root is a queue's; people and mounts put other things there."""
        if name.startswith(".") or not is_ours(name):
            return False
        return self.disk.exists(f"{self.layout.root}/{name}/.")

    def queue_of(self, name: str) -> str:
        """The queue of a folder; where its name was too long for one, a file in it says it."""
        text = text_of(name)
        content = self.disk.read(self.layout.of(text).name) if is_cut(name) else None
        told = text if content is None else content.decode(errors="replace")
        # What does not lead back here is torn, or was copied along with the folder.
        return told if name_of(told) == name else text

    def folders(self, queue: str) -> Folders:
        return self.layout.of(queue)

    def make_queue(self, queue: str) -> Folders:
        """The queue's folders; at its first use here, those that are missing are made durably."""
        folders = self.layout.of(queue)
        if queue not in self._made:
            self._ground.make(folders)
            self._made.add(queue)
        return folders

    def make_queue_again(self, queue: str) -> Folders:
        """Somebody may have removed folders of the queue."""
        self._made.discard(queue)
        return self.make_queue(queue)

    def mark_of(self, queue: str) -> bytes:
        """What `.ready/boot` says when all hints of a queue are written."""
        return self._ground.mark_of(queue)

    def make_index_again(self) -> bool:
        """Whether somebody had removed the index of leases; then all hints are due anew."""
        return self._ground.mend(self.layout.leases)

    def check_root(self) -> None:
        """An outage never looks like an empty queue."""
        self._ground.check_root()

    # -- writing

    def put(self, path: str, content: bytes) -> None:
        """Put a file in place durably: readers find the old one or the new one, whole."""
        tmp = f"{self.layout.tmp}/{self.nonce()}"
        self.disk.create(tmp, content, sync=True)
        self.disk.rename(tmp, path)
        self.disk.sync_folder(path.rpartition("/")[0])

    def put_in(
        self, place: Held, file: str, content: bytes, *, sync: bool, whole: bool = False
    ) -> None:
        """Put a file into a locked job's folder; fails if that was removed meanwhile.

        `whole`: a loss of power may bring the old one back, but leaves no torn one.
        """
        self.put_at(place.lock, place.path, file, content, sync=sync, whole=whole)

    def put_at(
        self,
        lock: int,
        folder: str,
        name: str,
        content: bytes,
        *,
        sync: bool,
        whole: bool = False,
    ) -> None:
        """Put a file into any locked folder."""
        tmp = f"{self.layout.tmp}/{self.nonce()}"
        self.disk.create(tmp, content, sync=sync or whole)
        self.disk.rename(tmp, name, at=lock)
        if sync:
            self.disk.sync_folder(folder, at=lock)

    def sync_together(self, number: int) -> bool:
        """Whether that many new files are synced by one call for all, instead of one for each."""
        return self.disk.together is not None and number >= self.disk.together

    def sync_all(self) -> None:
        self.disk.sync_all(self.layout.tmp)

    def put_hint(self, path: str, content: bytes) -> None:
        """Put a file in place that may be lost with the power."""
        tmp = f"{self.layout.tmp}/{self.nonce()}"
        self.disk.create(tmp, content, sync=False)
        self.disk.rename(tmp, path)

    def ended(self, folders: Folders, name: str) -> bool:
        """Whether a finished record of any generation is there."""
        exists, file = self.disk.exists, f"/{name}.json"
        completed, failed, cancelled = folders.ends.values()
        return exists(completed + file) or exists(failed + file) or exists(cancelled + file)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.disk.unlink(self._probe)
        self.disk.close()
