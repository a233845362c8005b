"""A disk that puts up with missing folders: they are made, and the call is done once more.

Only a call that fails pays for that. What lies in a locked folder (`at`) is not brought back: that
folder is a job's, and the job is gone with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferryman.backends.files.disk import Disk
    from ferryman.backends.files.ground import Ground


class MendedDisk:
    """Another disk's calls; those that need a folder mend the ground it stands on."""

    def __init__(self, disk: Disk, ground: Ground) -> None:
        self._disk = disk
        self._ground = ground
        # Handed through as they are: a call more for each would be felt.
        self.read = disk.read
        self.read_from = disk.read_from
        self.drop = disk.drop
        self.unlink = disk.unlink
        self.remove_folder = disk.remove_folder
        self.set_hinted = disk.set_hinted
        self.hinted = disk.hinted
        self.exists = disk.exists
        self.look = disk.look
        self.names = disk.names
        self.lock = disk.lock
        self.try_lock = disk.try_lock
        self.lock_shared = disk.lock_shared
        self.unlock = disk.unlock
        self.room = disk.room
        self.sync_all = disk.sync_all
        self.close = disk.close

    @property
    def together(self) -> int | None:
        return self._disk.together

    def create(self, path: str, content: bytes, *, sync: bool, at: int | None = None) -> None:
        try:
            self._disk.create(path, content, sync=sync, at=at)
        except FileNotFoundError:
            if not self._mended(path, at):
                raise
            self._disk.create(path, content, sync=sync)

    def append(self, path: str, content: bytes) -> None:
        try:
            self._disk.append(path, content)
        except FileNotFoundError:
            if not self._mended(path):
                raise
            self._disk.append(path, content)

    def link(self, path: str, new: str, *, at: int | None = None) -> bool:
        try:
            return self._disk.link(path, new, at=at)
        except FileNotFoundError:
            if not self._mended(new, at):
                raise
            return self._disk.link(path, new)

    def rename(self, path: str, new: str, *, at: int | None = None) -> None:
        try:
            self._disk.rename(path, new, at=at)
        except FileNotFoundError:
            if not self._mended(new, at):
                raise
            self._disk.rename(path, new)

    def move_folder(self, path: str, new: str) -> bool:
        try:
            return self._disk.move_folder(path, new)
        except FileNotFoundError:
            if not self._mended(new):
                raise
            return self._disk.move_folder(path, new)

    def make_folder(self, path: str) -> bool:
        try:
            return self._disk.make_folder(path)
        except FileNotFoundError:
            if not self._mended(path):
                raise
            return self._disk.make_folder(path)

    def sync_folder(self, path: str, at: int | None = None) -> None:
        try:
            self._disk.sync_folder(path, at)
        except FileNotFoundError:
            if at is not None or not self._ground.mend(path):
                raise
            self._disk.sync_folder(path)

    def time(self, probe: str) -> float:
        try:
            return self._disk.time(probe)
        except FileNotFoundError:
            if not self._mended(probe):
                raise
            return self._disk.time(probe)

    def _mended(self, path: str, at: int | None = None) -> bool:
        return at is None and self._ground.mend(path.rpartition("/")[0])
