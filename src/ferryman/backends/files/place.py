"""One job's folder, and the lock that makes check-and-act on it one step."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.backends.files.layout import Folders
    from ferryman.backends.files.store import Store


class Place:
    """`pending/<name>` of a queue. With `lock`, everything inside is reached through it.

    A folder that was removed meanwhile is empty, so a file found through the lock proves that the
    job is alive: nobody renames a job's folder once it has entered its queue.
    """

    __slots__ = ("folders", "lock", "name")

    def __init__(self, folders: Folders, name: str, lock: int | None = None) -> None:
        self.folders = folders
        self.name = name
        self.lock = lock

    @property
    def path(self) -> str:
        return f"{self.folders.pending}/{self.name}"

    def inside(self, file: str) -> str:
        """The file's name as the lock sees it, or its path without a lock."""
        return file if self.lock is not None else f"{self.folders.pending}/{self.name}/{file}"


class Held(Place):
    """A place whose lock is held."""

    __slots__ = ()
    lock: int

    def __init__(self, folders: Folders, name: str, lock: int) -> None:
        super().__init__(folders, name, lock)


@contextlib.contextmanager
def held(store: Store, folders: Folders, name: str, *, wait: bool = True) -> Iterator[Held | None]:
    """Hold a job's lock for the block; None if there is no such folder.

    Without `wait` a lock that somebody else holds is a `BlockingIOError`.
    """
    take = store.disk.lock if wait else store.disk.try_lock
    lock = take(f"{folders.pending}/{name}")
    try:
        yield None if lock is None else Held(folders, name, lock)
    finally:
        if lock is not None:
            store.disk.unlock(lock)
