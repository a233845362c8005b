"""Relaxed: jobs that were deleted here and that the bucket does not know to be deleted yet.

A job that is missing here may have been pushed elsewhere; only one that is named here was deleted.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from ferryman.backends.files.layout import ENDS
from ferryman.backends.files.names import name_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.backends.s3.node import Node


class Forgotten:
    """One empty file for each such job, removed once the bucket has forgotten it too."""

    def __init__(self, node: Node) -> None:
        self._bucket = node.bucket
        self._home = node.home
        self._disk = node.store.disk
        self._root = f"{node.store.layout.root}/.forgotten"

    def add(self, queue: str, name: str) -> None:
        """After the job went away here: a crash in between brings it back, and loses nothing."""
        self._disk.make_folder(self._root)
        self._disk.make_folder(f"{self._root}/{name_of(queue)}")
        with contextlib.suppress(FileExistsError):
            self._disk.create(self._path(queue, name), b"", sync=True)

    def has(self, queue: str, name: str) -> bool:
        return self._disk.exists(self._path(queue, name))

    def send(self, queue: str, name: str) -> None:
        """Let the bucket forget what was deleted here, before the id begins another life."""
        if self.has(queue, name):
            records = [self._home.record(queue, state, name) for state in ENDS]
            pending = [self._home.task(queue, name), self._home.lease(queue, name)]
            self._bucket.delete_many([*pending, *records])
            self._disk.unlink(self._path(queue, name))

    def all(self) -> Iterator[tuple[str, str]]:
        """Queues and names."""
        for queue in self._disk.names(self._root) or ():
            for name in self._disk.names(f"{self._root}/{queue}") or ():
                yield text_of(queue), name

    def _path(self, queue: str, name: str) -> str:
        return f"{self._root}/{name_of(queue)}/{name}"
