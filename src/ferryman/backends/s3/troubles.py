"""Objects that cannot be used: the bucket keeps them, and every process of a node can name them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from ferryman.backends.files.names import name_of, text_of
from ferryman.queue.diagnosis import Trouble

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ferryman.backends.s3.node import Node

_WAY_OUT: Final = "correct the object, or delete it"

Noted = dict[str, tuple[str, float]]
"""Reasons by key, and since when."""


class Troubles:
    """`.troubles/<queue>.json` in the root: what the last look at a queue could not use."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._store = node.store
        self._root = f"{node.store.layout.root}/.troubles"

    def note(self, queue: str, found: Mapping[str, str], *, records: bool) -> None:
        """Reasons by key, of a look at a queue; without `records` it saw no finished ones."""
        path = f"{self._root}/{name_of(queue)}.json"
        known = self._read(path)
        prefix, now = self._node.location.queue(queue), self._store.now()
        noted = {} if records else {k: v for k, v in known.items() if self._is_record(k)}
        # A copy: other queues may be looked at meanwhile.
        for key, reason in list(found.items()):
            if key.startswith(prefix):
                same = key in known and known[key][0] == reason
                noted[key] = known[key] if same else (reason, now)
        if noted != known:
            self._write(path, noted)

    def all(self) -> Iterator[Trouble]:
        """What is known of all queues."""
        for file in sorted(self._store.disk.names(self._root) or ()):
            queue = text_of(file.removesuffix(".json"))
            for key, (reason, at) in sorted(self._read(f"{self._root}/{file}").items()):
                place = f"s3://{self._node.bucket.name}/{key}"
                yield Trouble(queue, place, f"{reason}: {_WAY_OUT}", at)

    def _is_record(self, key: str) -> bool:
        spot = self._node.home.spot(key)
        return spot is not None and spot.state is not None

    def _read(self, path: str) -> Noted:
        try:
            facts = json.loads(self._store.disk.read(path) or b"{}")
            return {key: (str(reason), float(at)) for key, (reason, at) in facts.items()}
        except (AttributeError, TypeError, ValueError):
            return {}  # the next look writes it anew

    def _write(self, path: str, noted: Noted) -> None:
        if not noted:
            self._store.disk.unlink(path)
            return
        self._store.disk.make_folder(self._root)
        content = json.dumps(noted, ensure_ascii=False, indent=2).encode() + b"\n"
        self._store.put_hint(path, content)
