"""Nodes that share a bucket, and a bucket that dies between two requests."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

from ferryman.backends.s3.bucket import Bucket
from ferryman.backends.s3.location import Location
from ferryman.backends.s3.strict import StrictBackend
from ferryman.clock import SystemClock
from tests.servers.kinds import BUCKET

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ferryman.clock import Clock

REQUESTS: Final = ("get", "put_new", "put_over", "put", "delete", "delete_many", "list")


class Killed(BaseException):
    """The process is dead: no code of the backend may catch this and go on."""


class MortalBucket(Bucket):
    """Dies before or after its n-th request; then nothing reaches the server any more."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._count = 0
        self._last: tuple[int, bool] | None = None
        self._lock = threading.Lock()
        self.dead = False

    def doom(self, request: int, *, after: bool) -> None:
        """Let the request of this number, from now on, be the last: sent or not."""
        self._count, self._last = 0, (request, after)

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        return self._mortal(found) if name in REQUESTS else found

    def _mortal(self, request: Callable[..., Any]) -> Callable[..., Any]:
        def act(*args: Any, **options: Any) -> Any:
            with self._lock:
                self._count += 1
                last = self._last is not None and self._count >= self._last[0]
                if self.dead or (last and self._last is not None and not self._last[1]):
                    self.dead = True
                    raise Killed
                self.dead = last
            answer = request(*args, **options)
            if last:
                raise Killed
            return answer

        return act


def node(
    address: str,
    prefix: str,
    root: Path,
    clock: Clock | None = None,
    bucket: Bucket | None = None,
    **options: Any,
) -> StrictBackend:
    """A node of its own: the same prefix, another root."""
    location = Location(BUCKET, prefix, root, endpoint=address, **options)
    return StrictBackend(location, bucket or Bucket.at(location), clock or SystemClock())


def mortal(address: str) -> MortalBucket:
    return MortalBucket(BUCKET, endpoint=address)
