"""huey on SQLite and on files, one worker thread, results off."""

from __future__ import annotations

import logging
import signal
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from huey import FileHuey, SqliteHuey  # type: ignore[import-not-found]

from bench.contender import Contender

if TYPE_CHECKING:
    from pathlib import Path
    from threading import Event

    from bench.contender import Handler, Payload


class Huey(Contender):
    """A job is deleted when it is claimed: at most once."""

    def __init__(self, folder: Path, handle: Handler) -> None:
        super().__init__(folder, handle)
        logging.getLogger("huey").setLevel(logging.CRITICAL)
        self._huey = self.open(folder)
        self._noop = self._huey.task(name="noop")(handle)

    @abstractmethod
    def open(self, folder: Path) -> Any:
        """The queue on its own kind of storage."""

    def push(self, payload: Payload) -> None:
        self._noop(payload)

    def unfinished(self) -> int:
        return int(self._huey.storage.queue_size())

    def work(self, stop: Event) -> None:
        consumer = self._huey.create_consumer(
            workers=1,
            worker_type="thread",
            periodic=False,
            initial_delay=0.01,
            max_delay=0.05,
            check_worker_health=False,
        )
        ours = signal.getsignal(signal.SIGTERM)
        consumer.start()
        # It takes the signal for its own `run`, which we do not use.
        signal.signal(signal.SIGTERM, ours)
        stop.wait()
        consumer.stop()

    def close(self) -> None:
        self._huey.storage.close()


class HueyOnSqlite(Huey):
    """SQLite's default, synchronous=FULL."""

    def open(self, folder: Path) -> Any:
        return SqliteHuey("bench", filename=str(folder / "huey.db"), results=False)


class HueyOnFiles(Huey):
    """Nothing is synced."""

    def open(self, folder: Path) -> Any:
        return FileHuey("bench", path=str(folder / "huey"), results=False)
