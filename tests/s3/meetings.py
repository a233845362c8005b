"""Two processes of one relaxed node that meet: one stands still while the other acts."""

from __future__ import annotations

from contextlib import ExitStack, closing
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from chaos.disk.mortal import Points

from ferryman.backends.files.disk import LocalDisk
from ferryman.backends.s3.bucket import Bucket
from ferryman.ids import new_id
from ferryman.testing.clock import FakeClock
from tests.s3.nodes import REQUESTS, MortalBucket, ack, mortal_disk, poll, relaxed_node
from tests.s3.simulated import SimulatedCalls
from tests.servers.kinds import BUCKET

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from chaos.disk.mortal import MortalDisk

    from ferryman.backends.s3.relaxed import RelaxedBackend
    from ferryman.clock import Clock
    from ferryman.job import Job

    Act = Callable[["Node"], object]

_NOWHERE: Final = "http://simulated"


class Waits(BaseException):
    """The second process would wait for a lock that the first one holds."""


class Still:
    """Where the first process stands still: before one of its file-system calls or requests."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.over = True
        self.waited = False
        self._at = 0
        self._act: Callable[[], object] = lambda: None

    def arm(self, point: int, act: Callable[[], object]) -> None:
        """Count from here; at that point `act` is done."""
        self.seen.clear()
        self.over, self.waited = False, False
        self._at, self._act = point, act

    def point(self, what: str) -> None:
        self.seen.append(what)
        if self.over or len(self.seen) <= self._at:
            return
        self.over = True
        try:
            self._act()
        except Waits:
            self.waited = True


class _StillDisk(Points):
    def __init__(self, still: Still) -> None:
        super().__init__(LocalDisk(durable=False))
        self._still = still

    def strike(self, what: str) -> None:
        self._still.point(self.seen[-1])


class _StillBucket(Bucket):
    still: Still

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name not in REQUESTS:
            return found

        def request(*args: Any, **options: Any) -> Any:
            self.still.point(f"{name} {args[0]}")
            return found(*args, **options)

        return request


class _Impatient(LocalDisk):
    """Where a process would wait, it gives up: here both share one thread."""

    def lock(self, path: str) -> int | None:
        try:
            return self.try_lock(path)
        except BlockingIOError:
            raise Waits(path) from None


def standing(
    calls: SimulatedCalls, prefix: str, root: Path, clock: Clock
) -> tuple[RelaxedBackend, Still]:
    """A process that stands still on command."""
    still = Still()
    bucket = _StillBucket(BUCKET, calls=calls)
    bucket.still = still
    disk = _StillDisk(still).disk
    return relaxed_node(_NOWHERE, prefix, root, clock, bucket, disk), still


def passing(calls: SimulatedCalls, prefix: str, root: Path, clock: Clock) -> RelaxedBackend:
    """A process that acts meanwhile, or is on another node."""
    bucket = Bucket(BUCKET, calls=calls)
    return relaxed_node(_NOWHERE, prefix, root, clock, bucket, _Impatient(durable=False))


class Node:
    """Two processes of one node, and another node; every claim of the first one is kept."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.calls, self.clock = SimulatedCalls(), FakeClock()
        self.folder, self.prefix = folder, new_id()
        common = (self.calls, self.prefix)
        self.first, self.still = standing(*common, folder / "one", self.clock)
        self.second = passing(*common, folder / "one", self.clock)
        self.other = passing(*common, folder / "other", self.clock)
        self.claims: list[Job] = []
        self.ended: set[int] = set()
        for store in (self.first, self.second, self.other):
            stack.enter_context(closing(store))

    def claim(self, store: RelaxedBackend | None = None) -> list[Job]:
        store = store or self.second
        jobs = poll(store, f"w{len(self.claims)}")
        self.claims += jobs
        return jobs

    def complete(self, job: Job) -> bool:
        applied = ack(self.second, job)
        self.ended |= {job.fence} if applied else set()
        return applied

    def mortal(self) -> tuple[RelaxedBackend, MortalDisk, MortalBucket]:
        """A third process, which dies at a call of its disk or at a request."""
        bucket = MortalBucket(BUCKET, calls=self.calls)
        disk, root = mortal_disk(bucket), self.folder / "one"
        store = relaxed_node(_NOWHERE, self.prefix, root, self.clock, bucket, disk.disk)
        return store, disk, bucket

    def objects(self, folder: str) -> list[str]:
        """The keys in the bucket that lie in a folder of the queue."""
        return [key for key in self.calls.objects if f"/mail/{folder}/" in key]

    @property
    def fences(self) -> list[int]:
        return [job.fence for job in self.claims]


def at_each_point(folder: Path, before: Act, act: Act, after: Act) -> int:
    """A pass of the first process, in a new store for each of its points."""
    for point in count():
        with ExitStack() as stack:
            node = Node(folder / str(point), stack)
            before(node)
            node.still.arm(point, lambda node=node: act(node))  # type: ignore[misc]
            node.first.sync()
            if not node.still.over:
                return point
            if node.still.waited:
                act(node)
            after(node)
    raise AssertionError
