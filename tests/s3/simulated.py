"""S3's answers without a server, for cases that need a store for each of thousands of points.

It is held to the same cases as the real servers, in `test_bucket`.
"""

from __future__ import annotations

import hashlib
import threading
import time
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from ferryman.backends.s3.answers import Entry, Object
from ferryman.backends.s3.calls import Calls, Page
from ferryman.backends.s3.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferryman.clock import Clock


class SimulatedCalls(Calls):
    """The calls of one bucket whose objects are in memory; hand it to several nodes."""

    def __init__(self, clock: Clock | None = None) -> None:
        self.tally = Tally()
        self._now = time.time if clock is None else clock.now
        self.objects: dict[str, Object] = {}
        self._lock = threading.Lock()

    @property
    def endpoint(self) -> str:
        return "http://simulated"

    def get(self, key: str) -> Object:
        self.tally.add("get")
        with self._lock:
            found = self.objects.get(key)
        if found is None:
            raise refused(404, "NoSuchKey")
        return found

    def put(self, key: str, body: bytes, condition: Mapping[str, str]) -> str:
        self.tally.add("put")
        with self._lock:
            self._check(key, condition)
            etag = f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"'
            self.objects[key] = Object(body, etag, float(int(self._now())))
            return etag

    def delete(self, key: str, condition: Mapping[str, str]) -> None:
        self.tally.add("delete")
        with self._lock:
            self._check(key, condition)
            self.objects.pop(key, None)

    def delete_many(self, keys: Sequence[str]) -> None:
        self.tally.add("delete")
        with self._lock:
            for key in keys:
                self.objects.pop(key, None)

    def page(self, prefix: str, *, after: str | None, token: str | None, size: int) -> Page:
        self.tally.add("list")
        start = token or after or ""
        with self._lock:
            keys = sorted(k for k in self.objects if k.startswith(prefix) and k > start)
            found = [(key, self.objects[key]) for key in keys[:size]]
        entries = [Entry(key, each.etag, len(each.body), each.modified) for key, each in found]
        more = len(keys) > size
        return Page(entries, more, entries[-1].key if more else None)

    def _check(self, key: str, condition: Mapping[str, str]) -> None:
        found = self.objects.get(key)
        if "IfNoneMatch" in condition and found is not None:
            raise refused(412, "PreconditionFailed")
        if "IfMatch" in condition:
            if found is None:
                raise refused(404, "NoSuchKey")
            if found.etag != condition["IfMatch"]:
                raise refused(412, "PreconditionFailed")


def refused(status: int, code: str) -> ClientError:
    answer = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(answer, "Simulated")  # type: ignore[arg-type]
