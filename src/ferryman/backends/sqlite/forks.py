"""Before a fork every connection is closed, because SQLite must not be carried over one.

A child that inherits a connection also inherits SQLite's belief that its process holds the file's
locks, which POSIX gave to the parent alone. Even a connection that the child opens afresh then
works unlocked: when the parent closes last, it removes the write-ahead log under the child, and
jobs that the child has acknowledged are gone. Leaking the old connections does not help; closing
them before the fork does.
"""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet


class Forkable(Protocol):
    def before_fork(self) -> None: ...

    def after_fork(self) -> None: ...


_open: WeakSet[Forkable] = WeakSet()
_forking: list[Forkable] = []


def watch(database: Forkable) -> None:
    """Call `before_fork`, then `after_fork` in both processes, as long as the object lives."""
    _open.add(database)


def _before() -> None:
    for database in list(_open):
        database.before_fork()
        _forking.append(database)


def _after() -> None:
    while _forking:
        _forking.pop().after_fork()


os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
