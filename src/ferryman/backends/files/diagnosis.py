"""What only this store can know about itself: its file system, its space, its quarantine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ferryman.backends.files.browse import finished
from ferryman.backends.files.layout import FORMAT
from ferryman.backends.files.location import NETWORK
from ferryman.backends.files.quarantine import troubles
from ferryman.queue.diagnosis import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.files.desk import Desk
    from ferryman.backends.files.location import Location
    from ferryman.backends.files.store import Store

LITTLE_SPACE: Final = 1 << 30
NO_SPACE: Final = 100 << 20
FEW_INODES: Final = 100_000
PROVEN: Final = frozenset({"ext4"})
"""File systems on disks that the tests of this package run on."""
ALIKE: Final = frozenset({"xfs", "btrfs"})
"""File systems that are documented to give the same, and were not tried."""
NEEDED: Final = "atomic rename and link, flock, fsync of files and folders"


def diagnose(desk: Desk, location: Location, *, deep: bool) -> Sequence[Finding]:
    """Every probe; `deep` reads every record, and looks for waiting jobs without hints."""
    if deep:
        _read_records(desk)
    findings = [
        Finding.ok("format", f"version {FORMAT}"),
        _file_system(location, location.file_system(desk.store.disk)),
        _durability(location),
        _space(desk, location),
        _inodes(desk, location),
        _folders(desk.store),
        set_aside(desk.store),
    ]
    return [*findings, _unswept(desk)] if deep else findings


def _file_system(location: Location, kind: str) -> Finding:
    if NETWORK.fullmatch(kind):
        return Finding.warning(
            "file system",
            f"{kind}: other machines may see it; leases end by the file server's time, and nothing "
            "about its locks and renames is proven here",
            "use a local disk, or postgresql:// between machines",
        )
    if kind in ("tmpfs", "ramfs"):
        return Finding.warning(
            "file system",
            f"{location.root} is kept in memory ({kind}): a restart of the machine loses every job",
            "move the store to a folder on disk",
        )
    if kind in PROVEN:
        return Finding.ok("file system", f"{kind}: local; {NEEDED} are proven on it by our tests")
    if kind in ALIKE:
        return Finding.ok("file system", f"{kind}: local; documented to have {NEEDED}, not tried")
    return Finding.warning(
        "file system",
        f"{kind or 'of unknown type'}: nothing is known about what it keeps after a loss of power",
        f"use one of {', '.join(sorted(PROVEN | ALIKE))}",
    )


def _durability(location: Location) -> Finding:
    if location.durable:
        return Finding.ok("durability", "full: what was pushed survives a loss of power")
    return Finding.warning(
        "durability",
        "relaxed: a loss of power may take the jobs of the last moments with it",
        "leave ?durability=relaxed out of the URL of every process, unless you can live with that",
    )


def _space(desk: Desk, location: Location) -> Finding:
    free = desk.store.disk.room(location.root).free_bytes
    what = f"{free / (1 << 30):,.1f} GiB free"
    if free >= LITTLE_SPACE:
        return Finding.ok("disk space", what)
    judged = Finding.problem if free < NO_SPACE else Finding.warning
    return judged("disk space", f"only {what}; a full disk refuses pushes and acks", "free space")


def _inodes(desk: Desk, location: Location) -> Finding:
    free = desk.store.disk.room(location.root).free_inodes
    if free < 0:
        return Finding.ok("inodes", "made as they are needed")
    if free >= FEW_INODES:
        return Finding.ok("inodes", f"{free:,} free; a waiting job takes two")
    return Finding.warning(
        "inodes",
        f"only {free:,} free, and a waiting job takes two, a running one three",
        "prune finished jobs, or use a file system with more inodes",
    )


def _folders(store: Store) -> Finding:
    """One that is missing is made at its next use; one whose name is taken cannot be."""
    taken = [
        path
        for queue in store.queues()
        for path in store.folders(queue).all()
        if store.disk.look(path) is not None and not store.disk.exists(f"{path}/.")
    ]
    if not taken:
        return Finding.ok("folders", "nothing is in the way of any")
    return Finding.problem(
        "folders",
        f"{taken[0]} is no folder, or a link that leads to none: jobs that belong there are stuck",
        "mount what the link leads to, or move away what has the name; the folder is made again",
    )


def set_aside(store: Store) -> Finding:
    """What of a local tree cannot be used."""
    found = troubles(store)
    if not found:
        return Finding.ok("quarantine", "empty")
    first = found[0]
    return Finding.warning(
        "quarantine",
        f"{len(found)} file(s) cannot be used, such as {first.path}: {first.reason}",
        "mend each where it lies, or delete it; from quarantine/ it goes back to pending/",
    )


def _read_records(desk: Desk) -> None:
    for queue in desk.store.queues():
        for _ in finished(desk.store, desk.store.folders(queue)):
            pass


def _unswept(desk: Desk) -> Finding:
    disk, store = desk.store.disk, desk.store
    unmarked = 0
    for queue in store.queues():
        pending = store.folders(queue).pending
        looks = (disk.look(f"{pending}/{name}") for name in disk.names(pending) or ())
        unmarked += sum(1 for found in looks if found is not None and not found.hinted)
    if not unmarked:
        return Finding.ok("sweep", "every waiting job has its hint")
    return Finding.warning(
        "sweep",
        f"{unmarked} entr(ies) of pending/ were not taken in yet",
        "a worker that polls the queue takes them in; start one",
    )
