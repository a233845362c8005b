"""persist-queue on SQLite: get and ack, one by one."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

import persistqueue  # type: ignore[import-not-found]

from bench.contender import Contender

if TYPE_CHECKING:
    from pathlib import Path
    from threading import Event

    from bench.contender import Handler, Payload

POLL_EVERY: Final = 0.002
_ACKED: Final = 5


class Persist(Contender):
    """SQLite's default, synchronous=FULL; finished rows stay."""

    def __init__(self, folder: Path, handle: Handler) -> None:
        super().__init__(folder, handle)
        self._opened: Any = None

    @property
    def _queue(self) -> Any:
        # It reads its cursor when it is opened, so a worker opens it after the queue was filled.
        if self._opened is None:
            self._opened = persistqueue.SQLiteAckQueue(
                str(self.folder / "persist"),
                auto_commit=True,
                multithreading=True,
                auto_resume=False,
            )
        return self._opened

    def push(self, payload: Payload) -> None:
        self._queue.put(payload)

    def unfinished(self) -> int:
        with closing(sqlite3.connect(self.folder / "persist" / "data.db")) as connection:
            query = "SELECT count(*) FROM ack_queue_default WHERE status < ?"
            return int(connection.execute(query, (_ACKED,)).fetchone()[0])

    def work(self, stop: Event) -> None:
        while not stop.is_set():
            try:
                # A blocking get hears only the puts of its own process.
                item = self._queue.get(block=False)
            except persistqueue.Empty:
                time.sleep(POLL_EVERY)
                continue
            self.handle(item)
            self._queue.ack(item)

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()
