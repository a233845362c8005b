"""The Internet Archive: its S3-like uploads, the metadata of items, and their files."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from typing import Any
from urllib.parse import unquote

from causaganha.stand_ins.mishaps import Mishaps
from causaganha.stand_ins.server import Answer, Request, StandIn

_META = re.compile(r"x-archive-meta(\d\d)-(.+)")


class ArchiveStandIn(StandIn):
    """Items by identifier. Mishaps of an upload: `503`, and `lost`: it is kept, and answered 500.

    `uploads` counts the completed ones, by item and file name.
    """

    def __init__(self, mishaps: Mishaps | None = None) -> None:
        super().__init__()
        self.items: dict[str, dict[str, Any]] = {}
        self.uploads: Counter[str] = Counter()
        self.mishaps = mishaps or Mishaps()
        self._bodies: dict[str, bytes] = {}

    def answer(self, request: Request) -> Answer:
        place = request.path.strip("/").split("/", 1)
        if request.method == "GET" and place[0] == "metadata" and len(place) == 2:
            with self.lock:
                return Answer.json(self.items.get(place[1], {}))
        if request.method == "GET" and place[0] == "download" and len(place) == 2:
            body = self._bodies.get(place[1])
            return Answer(404) if body is None else Answer(200, body)
        if request.method == "PUT" and len(place) == 2:
            return self._put(request, *place)
        return Answer(404)

    def _put(self, request: Request, item: str, name: str) -> Answer:
        if not request.headers.get("authorization", "").startswith("LOW "):
            return Answer(403, b"<Error><Code>AccessDenied</Code></Error>")
        if not request.whole:
            return Answer(400, b"<Error><Code>IncompleteBody</Code></Error>")
        mishap = self.mishaps.next(request.path)
        if mishap == "503":
            return Answer(503, b"<Error><Code>SlowDown</Code></Error>")
        digest = hashlib.md5(request.body, usedforsecurity=False)
        if base64.b64encode(digest.digest()).decode() != request.headers.get("content-md5"):
            return Answer(400, b"<Error><Code>BadDigest</Code></Error>")
        with self.lock:
            known = item in self.items
            if not known and request.headers.get("x-archive-auto-make-bucket") != "1":
                return Answer(404, b"<Error><Code>NoSuchBucket</Code></Error>")
            kept = self.items.setdefault(item, {"metadata": {"identifier": item}, "files": []})
            kept["metadata"].update(_metadata(request))
            kept["files"] = [each for each in kept["files"] if each["name"] != name]
            kept["files"].append(
                {"name": name, "md5": digest.hexdigest(), "size": str(len(request.body))}
            )
            self._bodies[f"{item}/{name}"] = request.body
            self.uploads[f"{item}/{name}"] += 1
        return Answer(500 if mishap == "lost" else 200)


def _metadata(request: Request) -> dict[str, str | list[str]]:
    found: dict[str, list[str]] = {}
    for header in sorted(request.headers):
        if told := _META.fullmatch(header):
            value = request.headers[header]
            if value.startswith("uri(") and value.endswith(")"):
                value = unquote(value[4:-1])
            found.setdefault(told[2].replace("--", "_"), []).append(value)
    return {key: values if len(values) > 1 else values[0] for key, values in found.items()}
