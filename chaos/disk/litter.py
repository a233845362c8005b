"""What lies in a store's folder when every job has ended: its records, once each, and no litter."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chaos.disk.course import Views
    from ferryman.backends.files.disk import Disk

_RECORDS: Final = ("completed", "failed", "cancelled")
# Hints, keys and cells are told apart by their folders; what else starts with a dot is transient.
_LASTING: Final = frozenset({".ready", ".expiring", ".keys", ".cells", ".sweep"})
_OWN_FILES: Final = frozenset({"paused.json"})


def litter(disk: Disk, root: str, views: Views, aside: int = 0) -> Iterator[str]:
    """Files that belong to no ended job, and ended jobs that have not exactly one file.

    So many files must be in quarantine, each with its reason; a history lies beside its task.
    """
    records: Counter[str] = Counter()
    quarantined: Counter[str] = Counter()
    for path in files(disk, root):
        queue, _, rest = path.partition("/")
        folder, _, name = rest.partition("/")
        if not rest or queue in _LASTING or folder in _LASTING or rest in _OWN_FILES:
            continue
        if folder in _RECORDS and name.endswith(".json"):
            records[name.removesuffix(".json")] += 1
        elif folder == "quarantine":
            if name.endswith(".history.json"):
                continue
            quarantined["reasons" if name.endswith(".reason.txt") else "files"] += 1
        else:
            yield f"{path}: left behind"
    for job_id in views.keys() | records.keys():
        if records[job_id] != 1 or job_id not in views:
            yield f"{job_id}: {records[job_id]} records, {'a' if job_id in views else 'no'} job"
    if (quarantined["files"], quarantined["reasons"]) != (aside, aside):
        yield f"in quarantine: {dict(quarantined)}, expected {aside}"


def files(disk: Disk, root: str, below: str = "") -> Iterator[str]:
    """Every file under a folder, as a path relative to it."""
    for name in sorted(disk.names(f"{root}{below}") or ()):
        path = f"{below}/{name}"
        found = disk.look(f"{root}{path}")
        if found is not None and found.folder:
            yield from files(disk, root, path)
        else:
            yield path[1:]
