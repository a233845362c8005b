"""A `Disk` in memory: the file backend runs on it as on a real one, and power can be lost."""

from __future__ import annotations

import errno
import itertools
from typing import TYPE_CHECKING

from chaos.disk.inodes import File, Folder, Inodes, Node
from ferryman.backends.files.disk import Found, Room
from ferryman.backends.files.store import BOOT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ferryman.clock import Clock


class SimulatedDisk:
    """One host's view of a simulated file system, for one thread.

    `moment` is called before each change of names or content and before each sync, and inside a
    `create` and an `append` after each of its steps: there a loss of power can strike.
    """

    def __init__(
        self,
        inodes: Inodes,
        clock: Clock,
        moment: Callable[[], object] = lambda: None,
        boot: str = "first boot",
        together: int | None = None,
    ) -> None:
        self.inodes = inodes
        self.moment = moment
        self.together = together
        self._boot = boot.encode()
        self._clock = clock
        self._handles: dict[int, Folder] = {}
        self._shared: set[int] = set()
        self._numbers = itertools.count(3)
        self._ticks = itertools.count(1)

    # -- content

    def read(self, path: str, at: int | None = None) -> bytes | None:
        if path == BOOT:
            return self._boot
        node = self._find(path, at)
        return node.content if isinstance(node, File) else None

    def read_from(self, path: str, offset: int, size: int) -> bytes | None:
        node = self._find(path)
        return node.content[offset : offset + size] if isinstance(node, File) else None

    def create(self, path: str, content: bytes, *, sync: bool, at: int | None = None) -> None:
        folder, name = self._place(path, at)
        if name in folder.entries:
            raise FileExistsError(errno.EEXIST, "exists", path)
        file = File(changed_at=self._stamp())
        self._change(folder, (folder, name, file))
        for part in (content[: len(content) // 2], content):
            self.moment()
            file.content = part
        if sync:
            self.moment()
            file.synced = content

    def append(self, path: str, content: bytes) -> None:
        node = self._find(path)
        if node is None:
            folder, name = self._place(path)
            node = File()
            self._change(folder, (folder, name, node))
        if isinstance(node, Folder):
            raise IsADirectoryError(errno.EISDIR, "is a folder", path)
        before = node.content
        for part in (content[: len(content) // 2], content):
            self.moment()
            node.content = before + part
        node.changed_at = self._stamp()

    def drop(self, path: str, size: int) -> bool:
        node = self._find(path)
        if isinstance(node, File) and len(node.content) > size:
            return False
        self.unlink(path)
        return True

    # -- names

    def link(self, path: str, new: str, *, at: int | None = None) -> bool:
        node = self._must_find(path)
        folder, name = self._place(new, at)
        if name in folder.entries:
            return False
        self._change(folder, (folder, name, node))
        return True

    def rename(self, path: str, new: str, *, at: int | None = None) -> None:
        source, old = self._place(path)
        node = self._must_find(path)
        folder, name = self._place(new, at)
        taken = folder.entries.get(name)
        if isinstance(taken, Folder) and isinstance(node, File):
            raise IsADirectoryError(errno.EISDIR, "is a folder", new)
        if taken is node:
            return
        self._change(folder, (source, old, None), (folder, name, node))

    def move_folder(self, path: str, new: str) -> bool:
        source, old = self._place(path)
        node = self._must_find(path)
        try:
            folder, name = self._place(new)
        except NotADirectoryError:
            return False
        taken = folder.entries.get(name)
        if isinstance(taken, File) or (isinstance(taken, Folder) and taken.entries):
            return False
        if isinstance(taken, Folder):
            taken.removed = True
        self._change(folder, (source, old, None), (folder, name, node))
        return True

    def unlink(self, path: str, at: int | None = None) -> bool:
        node = self._find(path, at)
        if node is None:
            return False
        if isinstance(node, Folder):
            raise IsADirectoryError(errno.EISDIR, "is a folder", path)
        folder, name = self._place(path, at)
        self._change(folder, (folder, name, None))
        return True

    def make_folder(self, path: str) -> bool:
        folder, name = self._place(path)
        if name in folder.entries:
            return False
        self._change(folder, (folder, name, Folder(changed_at=self._stamp())))
        return True

    def remove_folder(self, path: str) -> bool:
        node = self._find(path)
        if not isinstance(node, Folder) or node.entries:
            return False
        folder, name = self._place(path)
        self._change(folder, (folder, name, None))
        node.removed = True
        return True

    def sync_folder(self, path: str, at: int | None = None) -> None:
        node = self._handles[at] if at is not None else self._must_find(path)
        if not isinstance(node, Folder):
            raise NotADirectoryError(errno.ENOTDIR, "is a file", path)
        self.moment()
        self.inodes.sync_names(node)

    def sync_all(self, path: str) -> None:
        self.moment()
        self.inodes.sync_all()

    def set_hinted(self, lock: int, hinted: bool) -> None:
        self.moment()
        self._handles[lock].hinted = hinted

    def hinted(self, lock: int) -> bool:
        return self._handles[lock].hinted

    # -- looking

    def exists(self, path: str, at: int | None = None) -> bool:
        return self._find(path, at) is not None

    def look(self, path: str, at: int | None = None) -> Found | None:
        node = self._find(path, at)
        if node is None:
            return None
        number, changed = node.number, node.changed_at
        if isinstance(node, Folder):
            return Found(True, False, node.hinted, 0, changed, number, changed)
        return Found(False, True, False, len(node.content), changed, number, changed)

    def names(self, path: str, at: int | None = None) -> Sequence[str] | None:
        node = self._handles[at] if at is not None else self._find(path)
        return list(node.entries) if isinstance(node, Folder) else None

    # -- locks, time and room

    def lock(self, path: str) -> int | None:
        return self.try_lock(path)

    def try_lock(self, path: str) -> int | None:
        return self._locked(path, list(self._handles.values()))

    def lock_shared(self, path: str) -> int | None:
        alone = [node for number, node in self._handles.items() if number not in self._shared]
        lock = self._locked(path, alone)
        if lock is not None:
            self._shared.add(lock)
        return lock

    def unlock(self, lock: int) -> None:
        del self._handles[lock]
        self._shared.discard(lock)

    def time(self, probe: str) -> float:
        if not self.exists(probe):
            self.create(probe, b"", sync=False)
        return self._clock.now()

    def room(self, path: str) -> Room:
        return Room(1 << 40, -1)

    def close(self) -> None:
        """Nothing is kept open."""

    # -- locks, stamps and paths

    def _locked(self, path: str, taken: list[Folder]) -> int | None:
        node = self._find(path)
        if not isinstance(node, Folder):
            return None
        if node in taken:
            raise BlockingIOError(errno.EAGAIN, "locked by this very thread", path)
        number = next(self._numbers)
        self._handles[number] = node
        return number

    def _stamp(self) -> float:
        # A test's clock stands still, the stamps of a file system do not.
        return self._clock.now() + next(self._ticks) * 1e-6

    def _change(self, home: Folder, *sets: tuple[Folder, str, Node | None]) -> None:
        self.moment()
        self.inodes.change(home, *sets)
        for folder, _, _ in sets:
            folder.changed_at = self._stamp()

    def _find(self, path: str, at: int | None = None) -> Node | None:
        node: Node | None = self.inodes.root if at is None else self._handles[at]
        for name in filter(None, path.split("/")):
            if not isinstance(node, Folder):
                return None
            if name != ".":
                node = node.entries.get(name)
        return node

    def _must_find(self, path: str) -> Node:
        node = self._find(path)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, "not there", path)
        return node

    def _place(self, path: str, at: int | None = None) -> tuple[Folder, str]:
        above, _, name = path.rpartition("/")
        folder = self._find(above, at)
        if not isinstance(folder, Folder) or folder.removed:
            while above and folder is None:
                above = above.rpartition("/")[0]
                folder = self._find(above, at)
            if isinstance(folder, File):
                raise NotADirectoryError(errno.ENOTDIR, "a file stands in the way", path)
            raise FileNotFoundError(errno.ENOENT, "no such folder", path)
        return folder, name
