"""litequeue: pop and done, one by one."""

from __future__ import annotations

import json
import sqlite3
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from litequeue import LiteQueue  # type: ignore[import-not-found]

from bench.contender import Contender

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from threading import Event

    from bench.contender import Handler, Payload

POLL_EVERY: Final = 0.002


class Lite(Contender):
    """WAL and synchronous=NORMAL, as the library sets it: the last commits may be lost."""

    def __init__(self, folder: Path, handle: Handler) -> None:
        super().__init__(folder, handle)
        self._queue: Any = LiteQueue(str(folder / "lite.db"))

    def push(self, payload: Payload) -> None:
        self._queue.put(json.dumps(payload))

    def push_many(self, payloads: Sequence[Payload]) -> None:
        with self._queue.transaction():
            for payload in payloads:
                self.push(payload)

    def unfinished(self) -> int:
        query = f"SELECT count(*) FROM {self._queue.table} WHERE status IN (0, 1)"  # noqa: S608
        return int(self._queue.conn.execute(query).fetchone()[0])

    def work(self, stop: Event) -> None:
        while not stop.is_set():
            message = _patiently(self._queue.pop)
            if message is None:
                time.sleep(POLL_EVERY)
                continue
            self.handle(json.loads(message.data))
            _patiently(partial(self._queue.done, message.message_id))

    def close(self) -> None:
        self._queue.close()


def _patiently(call: Callable[[], Any]) -> Any:
    while True:
        try:
            return call()
        except sqlite3.OperationalError:
            time.sleep(POLL_EVERY)
