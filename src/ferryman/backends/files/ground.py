"""The folders that everything lies in: made at first use, and again when somebody removed one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ferryman.backends.files.names import is_cut, name_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman.backends.files.disk import Disk
    from ferryman.backends.files.layout import Folders, Layout

BOOT_MARK: Final = "boot"
"""The file in `.ready` that says when and where all hints of a queue were written."""


class Ground:
    """Makes folders. git, archives and syncs drop empty ones, and people tidy up."""

    def __init__(self, disk: Disk, layout: Layout, boot: str, nonce: Callable[[], str]) -> None:
        self._disk = disk
        self._layout = layout
        self._boot = boot
        self._nonce = nonce

    def check_root(self) -> None:
        """An outage never looks like an empty queue."""
        if not self._disk.exists(self._layout.format):
            raise FileNotFoundError(2, "the folder of the queues is gone", self._layout.root)

    def mark_of(self, queue: str) -> bytes:
        """What says that all hints of a queue are written: since this boot, and right here.

        A queue that was renamed, or copied to another store, brings that of another place along.
        """
        root = self._disk.look(self._layout.root)
        return f"{self._boot} {root and root.inode} {name_of(queue)}".encode()

    def make(self, folders: Folders) -> None:
        """Make durably whatever a queue lacks."""
        disk = self._disk
        *lasting, ready = folders.all()
        missing = [path for path in lasting if not disk.exists(path)]
        if not missing and disk.exists(ready):
            return
        self.check_root()
        if not {folders.expiring, folders.paused_jobs}.isdisjoint(missing):
            # First of all: hints went with their folder, and without the mark all are written anew.
            disk.unlink(f"{ready}/{BOOT_MARK}")
        made = {path for path in missing if disk.make_folder(path)}
        if is_cut(folders.root):
            self._put(folders.name, folders.queue.encode(), sync=True)
        disk.sync_folder(folders.root)
        disk.sync_folder(self._layout.root)
        if disk.make_folder(ready) and folders.pending in made:
            # A queue that is new has all its hints: none.
            self._put(f"{ready}/{BOOT_MARK}", self.mark_of(folders.queue), sync=False)

    def mend(self, folder: str) -> bool:
        """Whether a folder was missing, and is there again with all others of its queue."""
        if self._disk.exists(folder):
            return False
        self.check_root()
        if folder in self._layout.all():
            make_root_folder(self._disk, self._layout, folder)
            self._disk.sync_folder(self._layout.root)
        else:
            folders = self._layout.with_folder(folder)
            if folders is None:
                return False
            self.make(folders)
        if not self._disk.exists(folder):
            # Such as a link to a disk that is not mounted.
            said = "the folder is missing, and what has its name keeps it from being made"
            raise FileNotFoundError(2, said, folder)
        return True

    def _put(self, path: str, content: bytes, *, sync: bool) -> None:
        self.mend(self._layout.tmp)
        tmp = f"{self._layout.tmp}/{self._nonce()}"
        self._disk.create(tmp, content, sync=sync)
        self._disk.rename(tmp, path)


def make_root_folder(disk: Disk, layout: Layout, folder: str) -> bool:
    """Make one of the root's folders; with the index of leases all hints to them were lost."""
    if not disk.make_folder(folder):
        return False
    if folder == layout.leases:
        for name in disk.names(layout.root) or ():
            if not name.startswith("."):
                disk.unlink(f"{layout.root}/{name}/.ready/{BOOT_MARK}")
    return True
