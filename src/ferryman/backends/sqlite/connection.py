"""One process's connections to a database file: a writer, some readers and a watcher."""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import threading
import time
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from ferryman.backends.bell import Bell
from ferryman.backends.sqlite import forks
from ferryman.backends.sqlite.errors import is_busy, leaves_connection_whole, translate
from ferryman.backends.sqlite.filtering import add_functions
from ferryman.backends.sqlite.schema import VERSIONS, check_sqlite, identify, migrate
from ferryman.errors import BackendRejected, BackendUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from ferryman.backends.sqlite.location import Location

# SQLite's own waiting grows to 100 ms a step, and most transactions take about one: whoever wants
# to write looks again soon, and later less often. A read can only meet a recovery, and waits.
_FIRST_PAUSE: Final = 0.000_2
_LONGEST_PAUSE: Final = 0.004
_READ_MS: Final = 10
_CACHE_KIB: Final = 16_384
# Opened when the ones before are in use: only servers need more than one.
_READERS: Final = 4
# A long read may let the log grow; it is cut back to this afterwards.
_LOG_BYTES: Final = 64 << 20


class Database:
    """The file, opened a few times: readers never wait for writers, nor for `wait`.

    Each connection serves one thread at a time. No transaction stays open between calls.
    """

    def __init__(self, location: Location) -> None:
        check_sqlite()
        location.check()
        self.path = location.path
        self._name = str(location.path)
        self.bell = Bell()
        self._file: tuple[int, int] | None = None
        self._location = location
        self._in_use = False
        self._writer = _Handle(self, busy_ms=0)
        self._readers = tuple(_Handle(self) for _ in range(_READERS))
        self._watcher = _Handle(self)
        self._closed = False
        forks.watch(self)

    @property
    def closed(self) -> bool:
        return self._closed

    def writing(self) -> AbstractContextManager[sqlite3.Connection]:
        """A transaction with the write lock from its start; commits unless the body raises."""
        return _Writing(self, self._writer)

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One consistent view of the store."""
        self.check_file()
        with self._free_reader() as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                _roll_back(connection)

    def _free_reader(self) -> AbstractContextManager[sqlite3.Connection]:
        """One that nobody uses, if there is one: a long read must not hold up the others."""
        for reader in self._readers:
            if reader.lock.acquire(blocking=False):
                return _Taken(reader)
        return random.choice(self._readers)  # noqa: S311

    def peeking(self) -> AbstractContextManager[sqlite3.Connection]:
        """The writer without a transaction: single reads that decide whether one is worth it."""
        self.check_file()
        return self._writer

    def watching(self) -> AbstractContextManager[sqlite3.Connection]:
        """The connection whose `data_version` tells of others' commits; single reads only."""
        return self._watcher

    def close(self) -> None:
        """Close every connection and wake whoever waits; later calls are refused."""
        self._closed = True
        for handle in (self._writer, *self._readers, self._watcher):
            with handle.lock:
                handle.drop()
        self.bell.ring()

    def before_fork(self) -> None:
        for handle in (self._writer, *self._readers, self._watcher):
            handle.lock.acquire()
            handle.drop()
        self.bell.lock.acquire()

    def after_fork(self) -> None:
        self.bell.lock.release()
        for handle in (self._writer, *self._readers, self._watcher):
            handle.lock.release()

    @property
    def patience(self) -> float:
        return self._location.busy_timeout

    def check_file(self) -> None:
        """Refuse to go on with a file that is no longer the one at the path.

        SQLite would go on writing to the deleted file, and its jobs would be nowhere.
        """
        if self._closed:
            raise BackendRejected(f"the connection to {self.path} was closed")
        if self._file is not None and self._file != _identity(self._name):
            raise BackendRejected(
                f"{self.path} was deleted or replaced while in use: "
                "stop all processes that use it, then start them again"
            )

    def open(self, busy_ms: int) -> sqlite3.Connection:
        """A fresh connection to the same file as before, its schema up to date."""
        self.check_file()
        # Only the first connection may make the file: one that is gone must not be made anew.
        mode = "rwc" if self._file is None else "rw"
        connection = sqlite3.connect(
            f"file:{quote(self._name)}?mode={mode}",
            uri=True,
            timeout=self.patience,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        try:
            self._file = self._file or _identity(self._name)
            self._prepare(connection)
            connection.execute(f"PRAGMA busy_timeout = {busy_ms}")
            self.check_file()
            self._in_use = True
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        # A newer Ferryman may bring the schema up to date under those of the version before, which
        # go on with it; none of them begins with it.
        version = identify(connection, self.path, newer=self._in_use)
        (mode,) = self._patiently(connection, "PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise BackendRejected(f"{self.path} cannot use a write-ahead log here (mode {mode})")
        connection.execute(f"PRAGMA synchronous = {self._location.synchronous}")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}")
        add_functions(connection)
        if version < len(VERSIONS):
            self.begin(connection)
            # Another process may have been faster.
            migrate(connection, identify(connection, self.path))
            connection.execute("COMMIT")

    def begin(self, connection: sqlite3.Connection) -> None:
        """Take the write lock; others may hold it for as long as our patience lasts."""
        self._patiently(connection, "BEGIN IMMEDIATE")

    def _patiently(self, connection: sqlite3.Connection, statement: str) -> sqlite3.Cursor:
        deadline = time.monotonic() + self.patience
        pause = _FIRST_PAUSE
        while True:
            try:
                return connection.execute(statement)
            except sqlite3.OperationalError as error:
                if not is_busy(error) or time.monotonic() >= deadline:
                    raise
            time.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311
            pause = min(pause * 1.3, _LONGEST_PAUSE)


class _Writing:
    """One transaction on the writer. A class, because a generator costs every push 2 µs."""

    __slots__ = ("_connection", "_database", "_writer")

    def __init__(self, database: Database, writer: _Handle) -> None:
        self._database = database
        self._writer = writer

    def __enter__(self) -> sqlite3.Connection:
        self._database.check_file()
        self._connection = connection = self._writer.__enter__()
        try:
            self._database.begin(connection)
        except BaseException as error:
            self._writer.__exit__(type(error), error, None)
            raise
        return connection

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            self._commit()
        else:
            _roll_back(self._connection)
        self._writer.__exit__(kind, error, trace)

    def _commit(self) -> None:
        try:
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            _roll_back(self._connection)
            self._writer.drop_if_broken(error)
            self._writer.lock.release()
            raise translate(error, self._database.path, committing=True) from error


class _Taken:
    """A handle whose lock its user holds already."""

    def __init__(self, handle: _Handle) -> None:
        self._handle = handle

    def __enter__(self) -> sqlite3.Connection:
        return self._handle.begin()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._handle.__exit__(kind, error, trace)


class _Handle:
    """One connection with the lock that hands it from thread to thread; opened on first use."""

    def __init__(self, database: Database, busy_ms: int = _READ_MS) -> None:
        self._busy_ms = busy_ms
        self.lock = threading.Lock()
        self._database = database
        self._connection: sqlite3.Connection | None = None
        self._pid = 0

    def __enter__(self) -> sqlite3.Connection:
        database = self._database
        if not self.lock.acquire(timeout=database.patience + 1):
            raise BackendUnavailable(
                f"{database.path} is busy: other threads of this process have held it for "
                f"{database.patience:g} s"
            )
        return self.begin()

    def begin(self) -> sqlite3.Connection:
        """The connection, for whoever holds the lock; an error gives that back."""
        try:
            return self._current()
        except BaseException as error:
            self.lock.release()
            if isinstance(error, sqlite3.Error):
                raise self._explained(error) from error
            raise

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, sqlite3.Error):
            self.drop_if_broken(error)
        self.lock.release()
        if isinstance(error, sqlite3.Error):
            raise self._explained(error) from error

    def _explained(self, error: sqlite3.Error) -> Exception:
        try:
            self._database.check_file()
        except BackendRejected as gone:  # which explains every other error
            return gone
        return translate(error, self._database.path)

    def drop_if_broken(self, error: sqlite3.Error) -> None:
        if not leaves_connection_whole(error):
            self.drop()

    def drop(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _current(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = self._database.open(self._busy_ms)
            self._pid = os.getpid()
        elif self._pid != os.getpid():
            raise BackendRejected(
                f"{self._database.path} was opened before a fork that bypassed Python: "
                "connect after the fork, in each process"
            )
        return self._connection


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        # SQLite rolls back by itself when it cannot; the first error is the one to report.
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino
