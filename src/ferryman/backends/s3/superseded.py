"""Relaxed: ends that a retry took away here, and that the bucket may not know of yet.

Without them the bucket would take another node's end of that generation for the only one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.files.document import Unreadable, parse, record_text, row_of
from ferryman.backends.files.names import name_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.backends.files.row import Row
    from ferryman.backends.files.store import Store


class Superseded:
    """`.superseded/<queue>/<job>,<generation>`: the record, until it was carried."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._root = f"{store.layout.root}/.superseded"

    def add(self, row: Row) -> None:
        """Before the retry: what is not retried after all is carried once more, to no effect."""
        self._store.disk.make_folder(self._root)
        self._store.disk.make_folder(f"{self._root}/{name_of(row.queue)}")
        path = self._path(row.queue, name_of(row.id), row.generation)
        self._store.put_hint(path, record_text(row, handed_off=True))

    def before(self, queue: str, name: str, generation: int) -> Iterator[Row]:
        """The ends of a job before that generation."""
        for number in range(1, generation):
            path = self._path(queue, name, number)
            content = self._store.disk.read(path)
            if content is None:
                continue
            try:
                row = row_of(parse(content), queue, text_of(name))
            except Unreadable:
                self._store.disk.unlink(path)  # torn by a loss of power
            else:
                yield row

    def done(self, row: Row) -> None:
        """The bucket knows of it."""
        self._store.disk.unlink(self._path(row.queue, name_of(row.id), row.generation))

    def all(self) -> Iterator[tuple[str, str, int]]:
        """Queues and names of jobs, and the generation that ended."""
        for queue in self._store.disk.names(self._root) or ():
            for entry in self._store.disk.names(f"{self._root}/{queue}") or ():
                name, _, generation = entry.rpartition(",")
                yield text_of(queue), name, int(generation)

    def _path(self, queue: str, name: str, generation: int) -> str:
        return f"{self._root}/{name_of(queue)}/{name},{generation}"
