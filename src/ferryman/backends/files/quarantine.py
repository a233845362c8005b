"""Files that cannot be used are set aside with the reason, and hide nothing else."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from ferryman.backends.files.names import fitting, shown
from ferryman.queue.diagnosis import Trouble

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.files.layout import Folders
    from ferryman.backends.files.store import Store

YOUNG: Final = 2.0
"""Seconds for which a file may still be in the making: people and scripts write in steps."""

_REASON: Final = ".reason.txt"
_log = logging.getLogger("ferryman.files")


def set_aside(store: Store, folders: Folders, path: str, name: str, reason: str) -> None:
    """Move a file to `quarantine/<name>.json`; the reason stands beside it, written first."""
    stem = f"{folders.quarantine}/{fitting(name)}"
    if store.disk.exists(f"{stem}.json"):
        stem = f"{stem},{store.nonce()}"
    was = shown(path)
    text = f"{reason}\nIt was {was}.\nMend it and move it back, or delete it with this file.\n"
    store.put_hint(f"{stem}{_REASON}", text.encode(errors="backslashreplace"))
    try:
        store.disk.rename(path, f"{stem}.json")
    except FileNotFoundError:
        if store.disk.exists(path):
            raise
        # Another process has just taken it in, or set it aside.
        if not store.disk.exists(f"{stem}.json"):
            store.disk.unlink(f"{stem}{_REASON}")
        return
    store.disk.sync_folder(folders.quarantine)
    why = shown(reason)
    _log.warning("queue %r: %s was set aside in %s.json: %s", folders.queue, was, stem, why)


def young(store: Store, path: str) -> bool:
    """Whether a file changed so recently that somebody may be about to finish it."""
    found = store.disk.look(path)
    return found is not None and store.file_clock.now() - found.changed_at < YOUNG


def troubles(store: Store) -> Sequence[Trouble]:
    """What lies in quarantine in every queue, and what lists had to leave out so far."""
    found = [
        Trouble(queue, shown(path), reason, seen.changed_at)
        for path, (queue, reason) in sorted(store.left_out.items())
        if (seen := store.disk.look(path)) is not None
    ]
    for queue in store.queues():
        folder = store.folders(queue).quarantine
        for name in sorted(store.disk.names(folder) or ()):
            if name.endswith((_REASON, ".history.json")):
                continue
            path = f"{folder}/{name}"
            note = f"{path.removesuffix('.json')}{_REASON}"
            reason = (store.disk.read(note) or b"somebody put it there").decode(errors="replace")
            seen = store.disk.look(note) or store.disk.look(path)
            at = 0.0 if seen is None else seen.changed_at
            found.append(Trouble(queue, shown(path), reason.partition("\n")[0], at))
    return found
