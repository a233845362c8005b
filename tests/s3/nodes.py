"""Nodes that share a bucket, and ones that die between two requests or file-system calls."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from chaos.disk.mortal import Died, MortalDisk

from ferryman.backends.files.disk import LocalDisk
from ferryman.backends.s3.bucket import Bucket
from ferryman.backends.s3.location import Consistency, Location
from ferryman.backends.s3.relaxed import RelaxedBackend
from ferryman.backends.s3.strict import StrictBackend
from ferryman.clock import SystemClock
from ferryman.job import JobError
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.settlement import Settlement
from tests.servers.kinds import BUCKET

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ferryman.backends.files.disk import Disk
    from ferryman.clock import Clock
    from ferryman.job import Job
    from ferryman.queue.contract import Backend

REQUESTS: Final = ("get", "put_new", "put_over", "put", "delete", "delete_many", "list")
LEASE: Final = 60.0
Killed = Died


class MortalBucket(Bucket):
    """Dies before or after its n-th request; then nothing reaches the server any more."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.sent = 0
        self._last: tuple[int, bool] | None = None
        self._lock = threading.Lock()
        self.disk: MortalDisk | None = None
        """What dies with it."""
        self.dead = False

    def doom(self, request: int, *, after: bool) -> None:
        """Let the request of this number, from now on, be the last: sent or not."""
        self.sent, self._last = 0, (request, after)

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        return self._mortal(found) if name in REQUESTS else found

    def _mortal(self, request: Callable[..., Any]) -> Callable[..., Any]:
        def act(*args: Any, **options: Any) -> Any:
            with self._lock:
                self.sent += 1
                last = self._last is not None and self.sent >= self._last[0]
                gone = self.dead or (self.disk is not None and self.disk.dead)
                if gone or (last and self._last is not None and not self._last[1]):
                    self._die()
                self.dead = last
            answer = request(*args, **options)
            if last:
                self._die()
            return answer

        return act

    def _die(self) -> None:
        self.dead = True
        if self.disk is not None:
            self.disk.die()
        raise Killed


def node(  # noqa: PLR0917
    address: str,
    prefix: str,
    root: Path,
    clock: Clock | None = None,
    bucket: Bucket | None = None,
    disk: Disk | None = None,
    **options: Any,
) -> StrictBackend:
    """A node of its own: the same prefix, another root."""
    location = Location(BUCKET, prefix, root, endpoint=address, **options)
    return StrictBackend(location, bucket or Bucket.at(location), clock or SystemClock(), disk)


def relaxed_node(  # noqa: PLR0917
    address: str,
    prefix: str,
    root: Path,
    clock: Clock | None = None,
    bucket: Bucket | None = None,
    disk: Disk | None = None,
) -> RelaxedBackend:
    relaxed = Consistency.RELAXED
    location = Location(BUCKET, prefix, root, consistency=relaxed, endpoint=address)
    return RelaxedBackend(location, clock or SystemClock(), bucket, disk)


def mortal(address: str) -> MortalBucket:
    return MortalBucket(BUCKET, endpoint=address)


def mortal_disk(bucket: MortalBucket) -> MortalDisk:
    """A disk that dies with its process's bucket, and the other way round."""
    bucket.disk = MortalDisk(LocalDisk(durable=False))
    return bucket.disk


def push(store: Backend, job_id: str = "job", **options: Any) -> str:
    [answer] = store.push([Message.of("mail", "send", "body", id=job_id, **options)])
    return answer.status


def poll(store: Backend, worker: str = "w", limit: int = 10, lease: float = LEASE) -> list[Job]:
    return list(store.poll(worker, {"mail": limit}, lease=lease))


def ack(store: Backend, job: Job) -> bool:
    return store.settle([Settlement.of(job, Verdict.ACK)])[0].applied


def fail(store: Backend) -> None:
    """Claim the one job that waits, and let it fail for good."""
    [job] = poll(store)
    error = JobError(1, 0.0, "w", "ValueError", "boom")
    assert store.settle([Settlement.of(job, Verdict.FAIL, error=error)])[0].applied


class HookedBucket(Bucket):
    """Lets something else happen just before, or after, one of its requests, of a kind and key."""

    before: tuple[str, str] | None = None
    happens: Callable[[], object] | None = None
    after: tuple[str, str] | None = None
    follows: Callable[[], object] | None = None

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        return partial(self._hooked, name, found) if name in REQUESTS else found

    def _hooked(self, kind: str, request: Callable[..., Any], key: str, *args: Any) -> Any:
        happens = self.happens
        if happens is not None and self.before == (kind, key):
            self.happens = None
            happens()
        answer = request(key, *args)
        follows = self.follows
        if follows is not None and self.after == (kind, key):
            self.follows = None
            follows()
        return answer
