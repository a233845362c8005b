"""Hearing of jobs that other processes push, on a connection of its own."""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
from typing import TYPE_CHECKING, Final

import psycopg

from ferryman.backends.postgresql import forks
from ferryman.errors import BackendError

if TYPE_CHECKING:
    from ferryman.backends.postgresql.connection import Database
    from ferryman.backends.postgresql.patient import PatientConnection

# The connection is tried this often: what lies between us and the server may forget it silently.
_CHECK: Final = 15.0
_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 5.0
_FAREWELL: Final = 1.0


class Listener:
    """Rings the database's bell at every announcement; listens anew after every kind of loss.

    It is only a hint that saves time. A pooler between transactions does not pass announcements
    on: then there is no listening, and `hears` stays False.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._tried = threading.Event()
        self._thread: threading.Thread | None = None
        self._ending, self._end = -1, -1
        self.hears = False
        forks.watch(self)

    @property
    def tried(self) -> bool:
        """Whether it has listened, or has failed to."""
        return self._tried.is_set()

    def start(self, patience: float) -> None:
        """Listen from now on; returns when it does, or when the first try has failed."""
        with self._lock:
            if self._thread is None:
                self._begin()
        self._tried.wait(patience)

    def close(self) -> None:
        """Stop listening."""
        with self._lock:
            thread, self._thread = self._thread, None
            if thread is None:
                return
            os.close(self._end)
        # In the midst of connecting it cannot be disturbed; it ends when that has failed.
        thread.join(_FAREWELL)

    def before_fork(self) -> None:
        self._lock.acquire()

    def after_fork(self, *, in_child: bool) -> None:
        if in_child and self._thread is not None:
            # The thread and its connection are the parent's; of its pipe both have both ends.
            os.close(self._end)
            self._thread, self.hears = None, False
        self._lock.release()

    def _begin(self) -> None:
        self._tried = threading.Event()
        self._ending, self._end = os.pipe()
        self.hears = False
        self._thread = threading.Thread(
            target=self._run, args=(self._ending,), name="ferryman-listener", daemon=True
        )
        self._thread.start()

    def _run(self, ending: int) -> None:
        pause = _FIRST_PAUSE
        try:
            while not self._database.closed:
                started = time.monotonic()
                # It may come back; until then polling finds the jobs.
                with contextlib.suppress(BackendError, psycopg.Error):
                    if self._listen(ending):
                        return
                self.hears = False
                self._tried.set()
                # Those who sleep rely on being told: they must look for themselves from now on.
                self._database.bell.ring()
                lasted = time.monotonic() - started > _CHECK
                pause = _FIRST_PAUSE if lasted else min(pause * 2, _LONGEST_PAUSE)
                if _readable([ending], pause):
                    return
        finally:
            self.hears = False
            self._tried.set()
            os.close(ending)

    def _listen(self, ending: int) -> bool:
        """Whether it need not be done again: it was ended, or it is of no use here."""
        with contextlib.closing(self._database.open()) as connection:
            if _is_pooled(connection):
                return True
            connection.execute(f"LISTEN {self._database.location.channel}")
            self.hears = True
            self._tried.set()
            # What was announced before this moment nobody has heard.
            self._database.bell.ring()
            while True:
                ready = _readable([ending, connection.pgconn.socket], _CHECK)
                if ending in ready:
                    return True
                if not ready:
                    connection.execute("SELECT 1")
                connection.pgconn.consume_input()
                queues = _announced(connection)
                if queues is not None:
                    self._database.hear(queues)


def _is_pooled(connection: PatientConnection) -> bool:
    """A pooler makes up a process number of its own; the server's says whom we really reached."""
    [(pid,)] = connection.execute("SELECT pg_backend_pid()").fetchall()
    return bool(pid != connection.info.backend_pid)


def _announced(connection: PatientConnection) -> set[str] | None:
    """The queues that were named; None if nothing was announced at all."""
    notices = list(iter(connection.pgconn.notifies, None))
    return {notice.extra.decode() for notice in notices if notice.extra} if notices else None


def _readable(files: list[int], seconds: float) -> set[int]:
    poll = select.poll()
    for file in files:
        poll.register(file, select.POLLIN)
    return {file for file, _ in poll.poll(seconds * 1_000)}
