"""Pausing a whole queue: `paused.json` in the bucket, looked up every two seconds."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Final

from ferryman.backends.files import pausing as local
from ferryman.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Collection

    from ferryman.backends.files.disk import Found
    from ferryman.backends.s3.node import Node

FRESH: Final = 2.0
"""Seconds for which an answer of the bucket is believed."""


class Pausing:
    """Which queues are paused; the local tree shows what the bucket said last."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._asked: dict[str, float] = {}

    def paused(self, queue: str) -> bool:
        """Whether claims are stopped, as the bucket said within the last two seconds."""
        if time.monotonic() - self._asked.get(queue, float("-inf")) > FRESH:
            self._ask(queue)
        return self._shown(queue)

    def ask_again(self, queues: Collection[str]) -> None:
        """Read them from the bucket now, which also says that it is there."""
        self._node.each(self._ask, list(queues)[:1])

    def pause(self, queue: str) -> None:
        """Stop claims: here at once, elsewhere within two seconds."""
        self._node.registry.register(queue)
        body = f'{{\n  "paused": true,\n  "nonce": "{new_id()}"\n}}\n'.encode()
        self._node.bucket.put(self._node.home.paused(queue), body)
        local.pause_queue(self._node.store, queue)

    def resume(self, queue: str) -> None:
        self._node.bucket.delete(self._node.home.paused(queue))
        local.resume_queue(self._node.store, queue)

    def refresh(self, queues: Collection[str]) -> None:
        """Read all of them, for a snapshot or a sync."""
        self._node.together([partial(self._ask, queue) for queue in queues])

    def _ask(self, queue: str) -> None:
        began, before = time.monotonic(), self._file(queue)
        found = self._node.bucket.get(self._node.home.paused(queue))
        if self._file(queue) != before:
            return  # a process of this machine has paused or resumed it since the question
        if (found is not None) != self._shown(queue):
            if found is not None:
                local.pause_queue(self._node.store, queue)
            else:
                local.resume_queue(self._node.store, queue)
        self._asked[queue] = began

    def _shown(self, queue: str) -> bool:
        return self._file(queue) is not None

    def _file(self, queue: str) -> Found | None:
        """What shows that it is paused; each pause makes another."""
        return self._node.store.disk.look(self._node.store.folders(queue).paused)
