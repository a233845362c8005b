"""The claims of this process, and the index by which everybody finds the leases of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferryman.backends.files.names import name_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.backends.files.lease import Lease
    from ferryman.backends.files.row import Row
    from ferryman.backends.files.store import Store


class Claim:
    """A claim made here: spares reading the job again at its end.

    It holds as long as `lease.json` is, byte for byte, the `content` that this process wrote last:
    whoever else changes something about a claim writes that file anew.
    """

    __slots__ = ("content", "index", "lease", "row")

    def __init__(self, row: Row, lease: Lease, content: bytes, index: str | None) -> None:
        self.row = row
        self.lease = lease
        self.content = content
        self.index = index


class Claims:
    """Claims of this process by the job's id; forgetting one is always safe."""

    def __init__(self) -> None:
        self._claims: dict[str, Claim] = {}

    def keep(self, claim: Claim) -> None:
        self._claims[claim.row.id] = claim

    def get(self, job_id: str) -> Claim | None:
        return self._claims.get(job_id)

    def forget(self, job_id: str) -> None:
        self._claims.pop(job_id, None)


class Indexed(NamedTuple):
    """One entry of the index: a lease that was made, and may be over."""

    path: str
    worker: str
    queue: str
    name: str
    fence: int


class Index:
    """`.leases/<worker>/<queue>/<job>,<fence>.<nonce>`: names only lead to leases, they prove none.

    A name is never used twice, so removing one that was found stale can hit no other.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._folders: dict[tuple[str, str], str] = {}

    def path(self, worker: str, queue: str, name: str, fence: int, nonce: str) -> str:
        return f"{self._folder(worker, queue)}/{name},{fence}.{nonce}"

    def create(self, path: str, content: bytes) -> None:
        """Write a lease where the index has it, not yet where it counts."""
        try:
            self._store.disk.create(path, content, sync=False)
        except FileNotFoundError:
            folder = path.rpartition("/")[0]
            self._store.disk.make_folder(folder.rpartition("/")[0])
            self._store.disk.make_folder(folder)
            self._store.disk.create(path, content, sync=False)

    def all(self) -> Iterator[Indexed]:
        for worker in self._store.disk.names(self._store.layout.leases) or ():
            yield from self._of(worker)

    def of(self, worker: str) -> Iterator[Indexed]:
        return self._of(name_of(worker))

    def _of(self, worker: str) -> Iterator[Indexed]:
        home = f"{self._store.layout.leases}/{worker}"
        for folder in self._store.disk.names(home) or ():
            queue = self._store.queue_of(folder)
            for entry in self._store.disk.names(f"{home}/{folder}") or ():
                name, _, rest = entry.rpartition(",")
                fence = rest.partition(".")[0]
                if name and fence.isdecimal():
                    path = f"{home}/{folder}/{entry}"
                    yield Indexed(path, text_of(worker), queue, name, int(fence))

    def _folder(self, worker: str, queue: str) -> str:
        folder = self._folders.get((worker, queue))
        if folder is None:
            folder = f"{self._store.layout.leases}/{name_of(worker)}/{name_of(queue)}"
            self._folders[worker, queue] = folder
        return folder
