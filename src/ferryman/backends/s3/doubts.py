"""Jobs that this node was changing in the bucket and has not shown in its local tree yet.

A process that dies in between leaves the job's name behind; whoever shows jobs next looks it up.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from ferryman.backends.files.names import name_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.backends.files.store import Store


class Doubts:
    """One empty file for each such job. A hint: to look up too many costs only requests."""

    def __init__(self, store: Store) -> None:
        self._disk = store.disk
        self._root = f"{store.layout.root}/.doubts"
        self._made: set[str] = set()

    def begin(self, queue: str, name: str) -> None:
        """Before a write to the bucket."""
        folder = f"{self._root}/{name_of(queue)}"
        if queue not in self._made:
            self._disk.make_folder(self._root)
            self._disk.make_folder(folder)
            self._made.add(queue)
        with contextlib.suppress(FileExistsError):
            self._disk.create(f"{folder}/{name}", b"", sync=False)

    def end(self, queue: str, name: str) -> None:
        """After the local tree shows what came of it."""
        self._disk.unlink(f"{self._root}/{name_of(queue)}/{name}")

    def all(self) -> Iterator[tuple[str, str]]:
        """Queues and names, of this process and of others."""
        for queue in self._disk.names(self._root) or ():
            for name in self._disk.names(f"{self._root}/{queue}") or ():
                yield text_of(queue), name
