"""The queues that the bucket knows: a mark for each, by which other machines learn of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.files.names import is_cut, name_of, text_of
from ferryman.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Collection

    from ferryman.backends.s3.node import Node


class Registry:
    """Marks say the queue's name, because a long one does not fit into a key."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._registered: set[str] = set()
        self._told: dict[str, str] = {}

    def register(self, queue: str) -> None:
        """Let other nodes know that there is such a queue, before anything else tells of it.

        Asks the bucket: a local folder proves nothing, as people make them too.
        """
        if queue in self._registered:
            return
        self._node.mark.make()
        if self._node.bucket.get(self._node.home.queue(queue)) is None:
            self._write(queue)
        self._registered.add(queue)

    def register_all(self, queues: Collection[str]) -> None:
        """The same for those that this node knows, by one listing."""
        home, bucket = self._node.home, self._node.bucket
        marks = {entry.key for entry in bucket.list(home.queues)}
        for queue in queues:
            if home.queue(queue) not in marks:
                self._write(queue)

    def queues(self) -> set[str]:
        """Every queue that has a mark."""
        prefix = self._node.home.queues
        keys = [entry.key for entry in self._node.bucket.list(prefix)]
        return {self._queue(key, key.removeprefix(prefix)) for key in keys}

    def _queue(self, key: str, name: str) -> str:
        if not is_cut(name):
            return text_of(name)
        if key not in self._told:
            found = self._node.bucket.get(key)
            told = "" if found is None else found.body.decode(errors="replace").partition("\n")[0]
            if name_of(told) != name:
                return text_of(name)
            self._told[key] = told
        return self._told[key]

    def _write(self, queue: str) -> None:
        self._node.bucket.put(self._node.home.queue(queue), f"{queue}\n{new_id()}\n".encode())
