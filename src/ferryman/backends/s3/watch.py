"""wait: a worker sleeps until there is something to claim, on this node or in the bucket."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from ferryman.backends.files.watch import Watch as LocalWatch

if TYPE_CHECKING:
    from collections.abc import Collection

    from ferryman.backends.s3.node import Node

SHORTEST: Final = 0.01


class Watch:
    """Wakes at once for what this node does; for others it looks into the bucket now and then."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._local = LocalWatch(node.desk)
        self._wakes = 0

    def wait(self, queues: Collection[str], timeout: float) -> bool:
        """Whether one of the queues may have a job to claim within `timeout` seconds."""
        until = time.monotonic() + timeout
        wakes = self._wakes
        node = self._node
        for queue in queues:
            node.pausing.paused(queue)
        while True:
            for queue in queues:
                node.sync.look(queue)
            left = until - time.monotonic()
            next_look = min((node.sync.next_look(queue) for queue in queues), default=left)
            if self._local.wait(queues, max(0.0, min(left, max(SHORTEST, next_look)))):
                return True
            if until <= time.monotonic() or self._wakes != wakes:
                return False
            for queue in queues:
                node.pausing.paused(queue)

    def ring(self) -> None:
        self._local.ring()

    def wake(self) -> None:
        self._wakes += 1
        self._local.wake()

    def close(self) -> None:
        self._local.close()
