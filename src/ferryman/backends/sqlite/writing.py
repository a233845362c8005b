"""A verb's whole turn as the writer: from the lock to the bell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.sqlite.transaction import Transaction

if TYPE_CHECKING:
    from ferryman.backends.sqlite.connection import Database
    from ferryman.backends.sqlite.watch import Watch
    from ferryman.clock import Clock


class Writing:
    """A transaction that stores its counts, commits, and wakes who waits for what it pushed.

    A class and not a generator: this surrounds every push, and costs it half as much.
    """

    __slots__ = ("_clock", "_connection", "_tx", "_watch")

    def __init__(self, database: Database, clock: Clock, watch: Watch) -> None:
        self._connection = database.writing()
        self._clock = clock
        self._watch = watch

    def __enter__(self) -> Transaction:
        connection = self._connection.__enter__()
        try:
            # Read under the write lock, so that times follow the order of the commits.
            self._tx = Transaction(connection, self._clock.now())
        except BaseException as error:
            self._end(error)
            raise
        return self._tx

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        tx = self._tx
        try:
            if error is None:
                tx.store_counts()
        except BaseException as failed:
            error = failed
            raise
        finally:
            tx.close()
            self._end(error)
        if error is None and tx.tally.wakes:
            self._watch.ring()

    def _end(self, error: BaseException | None) -> None:
        self._connection.__exit__(type(error) if error else None, error, None)
