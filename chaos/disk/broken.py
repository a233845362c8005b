"""Backends that are broken on purpose: a harness that does not catch them proves nothing.

Each is the sound backend on a disk that leaves out, or does too early, what the protocol rests on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from chaos.disk.opening import opened

if TYPE_CHECKING:
    from chaos.disk.opening import Build
    from ferryman.backends.files.disk import Disk
    from ferryman.queue.contract import Backend
    from ferryman.testing import FakeClock


class _Bent:
    """A disk that does one thing otherwise."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk

    def __getattr__(self, name: str) -> Any:
        return getattr(self._disk, name)


class NamesUnsynced(_Bent):
    """Files are synced, the folders that name them are not."""

    def sync_folder(self, path: str, at: int | None = None) -> None:
        pass


class ContentUnsynced(_Bent):
    """Names are synced, what stands in the files is not."""

    def create(self, path: str, content: bytes, *, sync: bool, at: int | None = None) -> None:
        self._disk.create(path, content, sync=False, at=at)


class TaskFirst(_Bent):
    """The job's task is removed before the record of its end has its name."""

    def rename(self, path: str, new: str, *, at: int | None = None) -> None:
        for folder in ("/completed/", "/failed/", "/cancelled/"):
            if folder in new:
                job = new.replace(folder, "/pending/").removesuffix(".json")
                self._disk.unlink(f"{job}/task.json")
        self._disk.rename(path, new, at=at)


class LeaseUnseen(_Bent):
    """A lease is put in place of whatever lease is there, and nobody looks first."""

    def read(self, path: str, at: int | None = None) -> bytes | None:
        return None if path.endswith("lease.json") else self._disk.read(path, at)

    def link(self, path: str, new: str, *, at: int | None = None) -> bool:
        self._disk.unlink(new, at)
        return self._disk.link(path, new, at=at)


def broken(bend: type[_Bent]) -> Build:
    """A way to open the backend on such a disk."""

    def build(root: str, clock: FakeClock, disk: Disk) -> Backend:
        return opened(root, clock, cast("Disk", bend(disk)))

    return build


BROKEN: Final = {
    "names": broken(NamesUnsynced),
    "content": broken(ContentUnsynced),
    "task": broken(TaskFirst),
    "lease": broken(LeaseUnseen),
}
