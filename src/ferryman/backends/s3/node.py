"""What every verb of one process works with: the bucket, the local tree, and threads."""

from __future__ import annotations

import math
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeVar

from ferryman.backends.files.desk import Desk
from ferryman.backends.files.disk import LocalDisk
from ferryman.backends.files.location import Location as LocalFolder
from ferryman.backends.files.moments import whole
from ferryman.backends.files.store import Store
from ferryman.backends.s3.cells import Cells
from ferryman.backends.s3.doubts import Doubts
from ferryman.backends.s3.home import Home
from ferryman.backends.s3.mark import Mark
from ferryman.backends.s3.mirror import Mirror
from ferryman.backends.s3.pausing import Pausing
from ferryman.backends.s3.registry import Registry
from ferryman.backends.s3.shared_clock import SharedClock
from ferryman.backends.s3.sync import Sync
from ferryman.backends.s3.troubles import Troubles
from ferryman.errors import BackendUnavailable, OutcomeUnknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Future

    from ferryman.backends.files.disk import Disk
    from ferryman.backends.files.row import Row
    from ferryman.backends.s3.bucket import Bucket
    from ferryman.backends.s3.location import Location
    from ferryman.backends.s3.sight import Sight
    from ferryman.clock import Clock

    T = TypeVar("T")
    U = TypeVar("U")

THREADS: Final = 16
_JOB: Final = "ferryman-s3-job"


class Node:
    """One process at one bucket. `claims` are the latest sights of what was claimed here.

    `clock` tells the store's time; `desk` stands at the local tree. `short` are the queues whose
    last poll found fewer jobs than it wanted.
    """

    def __init__(self, location: Location, bucket: Bucket, clock: Clock, desk: Desk) -> None:
        self.location = location
        self.bucket = bucket
        self.clock = clock
        self.home = Home(location)
        self.desk = desk
        self.store = desk.store
        self.mark = Mark(self)
        self.registry = Registry(self)
        self.cells = Cells(self)
        self.doubts = Doubts(self.store)
        self.mirror = Mirror(self)
        self.pausing = Pausing(self)
        self.troubles = Troubles(self)
        self.sync = Sync(self)
        self.server_clock = SharedClock(self.store, bucket.clock())
        self.claims: dict[str, Sight] = {}
        self.short: set[str] = set()
        self._pools: tuple[int, ThreadPoolExecutor, ThreadPoolExecutor] | None = None

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Around a verb that writes or judges times."""
        with self.store.verb(), self.server_clock.shared():
            written = self.bucket.written
            try:
                yield
            except OSError:
                if self.bucket.written != written:
                    # The local tree failed, when the bucket was changed already.
                    self.store.commit()
                raise
            except OutcomeUnknown:
                raise
            except BackendUnavailable as error:
                if self.bucket.written == written:
                    raise
                raise OutcomeUnknown(f"after a part of it was written: {error}") from error

    @property
    def doubt(self) -> float:
        """Seconds to put off whatever must not come early: what the server may be ahead of us.

        It is judged by the earliest time that the server may have, by us or by others who know
        better; so it is set by the latest.
        """
        return self.bucket.clock().doubt if self.clock is self.bucket.clock() else 0.0

    def put_off(self, row: Row, now: float) -> None:
        """Let a job that is to wait from now on not be ready too early."""
        if row.ready_at > now:
            row.ready_at = whole(row.ready_at + self.doubt)

    def each(self, act: Callable[[T], U], items: Iterable[T]) -> Sequence[U]:
        """Do one thing for many jobs at once; all are done before the first error is raised."""
        items = list(items)
        # A job's thread that waited for other jobs' threads might wait for itself.
        inside = threading.current_thread().name.startswith(_JOB)
        if len(items) < 2 or inside:
            return [act(item) for item in items]
        return _gather([self._threads()[0].submit(act, item) for item in items])

    def together(self, requests: Sequence[Callable[[], U]]) -> Sequence[U]:
        """Requests and nothing else, at once; they must not call this again."""
        if len(requests) < 2:
            return [request() for request in requests]
        return _gather([self._threads()[1].submit(request) for request in requests])

    def close(self) -> None:
        made, self._pools = self._pools, None
        if made is not None and made[0] == os.getpid():
            made[1].shutdown()
            made[2].shutdown()
        self.store.close()
        self.bucket.close()

    def _threads(self) -> tuple[ThreadPoolExecutor, ThreadPoolExecutor]:
        """Two pools, so that jobs that wait for their requests never take up their threads."""
        made = self._pools
        if made is None or made[0] != os.getpid():
            made = self._pools = (
                os.getpid(),
                ThreadPoolExecutor(THREADS, _JOB),
                ThreadPoolExecutor(THREADS, "ferryman-s3"),
            )
        return made[1], made[2]


def mirror_desk(root: str, clock: Clock, disk: Disk | None = None) -> Desk:
    """A desk at the local tree of a strict node.

    It is a mirror: what it loses is read again, so nothing in it waits for a disk.
    """
    disk = disk or LocalDisk(durable=False)
    # Never the file system's time, which is what the file backend takes for a machine's clock.
    store = Store(root, disk, Micros(clock))
    with store.verb():
        LocalFolder(root, durable=False).prepare(disk)
    return Desk(store)


class Micros:
    """A clock in whole microseconds, as texts keep them; never ahead of the one it reads."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def now(self) -> float:
        return math.floor(self._clock.now() * 1e6) / 1e6

    def monotonic(self) -> float:
        return self._clock.monotonic()


def _gather(futures: Sequence[Future[U]]) -> list[U]:
    answers: list[U] = []
    error: BaseException | None = None
    for future in futures:
        try:
            answers.append(future.result())
        except BaseException as raised:
            error = error or raised
    if error is not None:
        raise error
    return answers
