"""What a database file lies on: its permissions, file system, free space and speed."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from statistics import median
from typing import TYPE_CHECKING, Final

from ferryman.backends.mounts import mount_type
from ferryman.backends.sqlite import location
from ferryman.queue.diagnosis import Finding

if TYPE_CHECKING:
    from pathlib import Path

LITTLE_SPACE: Final = 1 << 30
NO_SPACE: Final = 100 << 20
SLOW_SYNC: Final = 0.05

_SYNCS: Final = 5
_PAGE: Final = bytes(4_096)
_IN_MEMORY: Final = frozenset({"tmpfs", "ramfs"})
_SHARED_FOLDERS: Final = frozenset({"9p", "virtiofs", "vboxsf", "fuse.vmhgfs-fuse"})


def permissions(path: Path) -> Finding:
    """Who else may use the file: those who should must share its owner, others must not write.

    That this process may use it was proven by opening it.
    """
    files = [path.with_name(path.name + end) for end in ("", "-wal", "-shm")]
    owners = {file.stat().st_uid for file in files if file.exists()}
    mode = stat.S_IMODE(path.stat().st_mode)
    if len(owners) > 1:
        return Finding.warning(
            "permissions",
            f"{path.name} and its -wal and -shm belong to different users "
            f"(ids {', '.join(map(str, sorted(owners)))}), so one of them will be refused",
            "run every process of this store as one user, and chown the three files to it",
        )
    if mode & stat.S_IWOTH:
        return Finding.warning(
            "permissions",
            f"every user of this machine may change {path.name} (mode {mode:o})",
            f"chmod o-w {path}",
        )
    return Finding.ok("permissions", f"{path.name} has mode {mode:o}")


def file_system(folder: Path) -> Finding:
    """Whether what is written there stays, and whether locks work there."""
    if not location.MOUNTS.exists():
        return Finding.ok("file system", "of unknown type")
    mounts = location.MOUNTS.read_text(encoding="utf-8", errors="ignore")
    kind = mount_type(folder.resolve(), mounts)
    if kind in _SHARED_FOLDERS:
        return Finding.problem(
            "file system",
            f"{folder} is shared with a virtual machine ({kind}): locks do not reach its other "
            "side, and processes there would damage the file",
            "keep the store on a disk that only one side uses",
        )
    if kind in _IN_MEMORY:
        return Finding.warning(
            "file system",
            f"{folder} is kept in memory ({kind}): a restart of the machine loses every job",
            "move the store to a folder on disk",
        )
    if kind == "overlay":
        return Finding.warning(
            "file system",
            f"{folder} is a layer of a container (overlay): its jobs go when the container goes",
            "keep the store in a volume",
        )
    return Finding.ok("file system", kind or "of unknown type")


def space(folder: Path) -> Finding:
    """Room for more jobs; a full disk loses nothing, but refuses pushes and acks."""
    free = shutil.disk_usage(folder).free
    if free >= LITTLE_SPACE:
        return Finding.ok("disk space", f"{amount(free)} free")
    judged = Finding.problem if free < NO_SPACE else Finding.warning
    return judged(
        "disk space",
        f"only {amount(free)} free at {folder}; a full disk refuses pushes and acks",
        "free space, or make room inside the file with `ferryman prune`",
    )


def sync(folder: Path) -> Finding:
    """How long a commit waits for the disk, measured on a file of its own.

    Never on the database: closing another descriptor of it would drop SQLite's locks.
    """
    try:
        seconds = _measured(folder)
    except OSError as error:
        return Finding.problem(
            "fsync",
            f"no probe file could be written in {folder}: {error.strerror}",
            "SQLite keeps files beside the database: see to the folder's space and permissions",
        )
    if seconds <= SLOW_SYNC:
        return Finding.ok("fsync", f"takes {seconds * 1e3:.2f} ms")
    return Finding.warning(
        "fsync",
        f"takes {seconds * 1e3:.1f} ms, and each commit waits for one",
        "use a faster disk, push in batches, or accept ?synchronous=normal",
    )


def amount(size: float) -> str:
    """Bytes as people read them: 512 bytes, 1.4 MiB, 78 GiB."""
    unit = "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if size < 1_024:
            break
        size, unit = size / 1_024, larger
    return f"{size:.0f} {unit}" if unit == "bytes" or size >= 10 else f"{size:.1f} {unit}"


def _measured(folder: Path) -> float:
    took = []
    with tempfile.TemporaryFile(dir=folder, prefix=".ferryman-probe-", buffering=0) as probe:
        for _ in range(_SYNCS):
            probe.write(_PAGE)
            started = time.perf_counter()
            os.fsync(probe.fileno())
            took.append(time.perf_counter() - started)
    return median(took)
