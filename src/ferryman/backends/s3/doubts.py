"""Jobs that this node was changing in the bucket and has not shown in its local tree yet.

A process that dies in between leaves the job's name behind; whoever shows jobs next looks it up.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, NamedTuple

from ferryman.backends.files.names import name_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferryman.backends.files.store import Store


class Doubts:
    """One empty file for each such job, or one with the names of many. A hint: to look up too many
    costs only requests.
    """

    def __init__(self, store: Store) -> None:
        self._disk = store.disk
        self._store = store
        self._root = f"{store.layout.root}/.doubts"
        self._made: set[str] = set()

    def begin(self, queue: str, name: str) -> None:
        """Before a write to the bucket."""
        with contextlib.suppress(FileExistsError):
            self._disk.create(f"{self._folder(queue)}/{name}", b"", sync=False)

    def end(self, queue: str, name: str) -> None:
        """After the local tree shows what came of it."""
        self._disk.unlink(f"{self._root}/{name_of(queue)}/{name}")

    @contextlib.contextmanager
    def about(self, queue: str, names: Sequence[str]) -> Iterator[None]:
        """Around many writes and the showing of what came of them; one that fails leaves it."""
        if len(names) == 1:
            self.begin(queue, names[0])
            file = names[0]
        else:
            # No name of a job has a comma in it.
            file = f"{self._store.nonce()},{len(names)}"
            self._store.put_hint(f"{self._folder(queue)}/{file}", "\n".join(names).encode())
        yield
        self.end(queue, file)

    def all(self) -> Iterator[Doubt]:
        """Those of this process and of others."""
        for folder in self._disk.names(self._root) or ():
            for name in self._disk.names(f"{self._root}/{folder}") or ():
                names = [name]
                if "," in name:
                    content = self._disk.read(f"{self._root}/{folder}/{name}") or b""
                    names = content.decode(errors="replace").split()
                yield Doubt(text_of(folder), name, names)

    def _folder(self, queue: str) -> str:
        folder = f"{self._root}/{name_of(queue)}"
        if queue not in self._made:
            self._disk.make_folder(self._root)
            self._disk.make_folder(folder)
            self._made.add(queue)
        return folder


class Doubt(NamedTuple):
    """One file: its name, and the names of the jobs that it is about."""

    queue: str
    name: str
    jobs: Sequence[str]
