"""The limit of a bucket: one conditional PUT for each step of a job, by as many threads as ours."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from bench.contender import BATCH, Cycling

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from threading import Event

    from bench.contender import Handler, Payload

BUCKET: Final = "ferryman-tests"
"""The bucket that the server is started with."""
_TASK: Final = b"." * 460
_LEASE: Final = b"." * 540
_DONE: Final = b"." * 900


class RawS3(Cycling):
    """Objects of our lengths, by our driver with our settings; nothing is read and nothing ends."""

    def __init__(self, folder: Path, handle: Handler) -> None:
        from ferryman.backends.s3.client import Client
        from ferryman.backends.s3.node import THREADS
        from ferryman.backends.s3.patience import Patience

        super().__init__(folder, handle)
        self._client: Any = Client(Patience(), endpoint=None, region=None).get()
        self._threads = ThreadPoolExecutor(THREADS)
        self._pushed = 0
        self._waiting: list[str] = []
        self.claimed: list[tuple[str, str]] = []

    def push(self, payload: Payload) -> None:
        self.push_many([payload])

    def push_many(self, payloads: Sequence[Payload]) -> None:
        start, self._pushed = self._pushed, self._pushed + len(payloads)
        names = [
            f"b{self.folder.name}/pending/{number:036d}" for number in range(start, self._pushed)
        ]
        list(self._threads.map(self._enter, names))
        self._waiting += names

    def prepare(self, payloads: Sequence[Payload]) -> Sequence[object]:
        return payloads

    def cycle(self, prepared: Sequence[object]) -> int:
        self.push_many([{} for _ in prepared])
        self.claim(len(prepared))
        return self.settle()

    def claim(self, limit: int) -> None:
        """Make the leases of the next jobs."""
        names, self._waiting = self._waiting[:limit], self._waiting[limit:]
        self.claimed = list(self._threads.map(self._lease, names))

    def settle(self) -> int:
        """Overwrite the leases that were made; how many."""
        leases, self.claimed = self.claimed, []
        return len(list(self._threads.map(self._end, leases)))

    def unfinished(self) -> int:
        return len(self._waiting)

    def work(self, stop: Event) -> None:
        while not stop.is_set() and self._waiting:
            self.claim(BATCH)
            self.settle()

    def close(self) -> None:
        self._threads.shutdown()
        self._client.close()

    def _enter(self, name: str) -> None:
        self._client.put_object(Bucket=BUCKET, Key=f"{name}/task.json", Body=_TASK, IfNoneMatch="*")

    def _lease(self, name: str) -> tuple[str, str]:
        key = f"{name}/lease.json"
        answer = self._client.put_object(Bucket=BUCKET, Key=key, Body=_LEASE, IfNoneMatch="*")
        return key, answer["ETag"]

    def _end(self, lease: tuple[str, str]) -> None:
        key, etag = lease
        self._client.put_object(Bucket=BUCKET, Key=key, Body=_DONE, IfMatch=etag)
