"""dirq's Queue: a folder for each job, locked by a folder in it."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, Final

from dirq.queue import Queue  # type: ignore[import-not-found]

from bench.contender import Contender

if TYPE_CHECKING:
    from pathlib import Path
    from threading import Event

    from bench.contender import Handler, Payload

POLL_EVERY: Final = 0.002


class Dirq(Contender):
    """Nothing is synced, nothing expires; a job is gone when it is finished."""

    def __init__(self, folder: Path, handle: Handler) -> None:
        super().__init__(folder, handle)
        self._queue: Any = Queue(str(folder / "dirq"), schema={"body": "string"})

    def push(self, payload: Payload) -> None:
        self._queue.add({"body": json.dumps(payload)})

    def unfinished(self) -> int:
        return int(self._queue.count())

    def work(self, stop: Event) -> None:
        while not stop.is_set():
            name = self._queue.first()
            if not name:
                time.sleep(POLL_EVERY)
            while name and not stop.is_set():
                if self._queue.lock(name):
                    self.handle(json.loads(self._queue.get(name)["body"]))
                    self._queue.remove(name)
                name = self._queue.next()

    def close(self) -> None:
        """Nothing is open."""
