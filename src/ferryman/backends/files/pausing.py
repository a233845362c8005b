"""Pausing a whole queue: `paused.json` in its folder."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ferryman.backends.files.layout import Folders
    from ferryman.backends.files.store import Store

PATIENCE: Final = 2.0
"""Seconds for which a pause waits for polls that began before it; a frozen one may land later."""


def lock_claims(store: Store, folders: Folders) -> int | None:
    """A lock for claims, if they may be made: no pause is answered before it is let go."""
    lock = store.disk.lock_shared(folders.paused_jobs)
    if lock is None:
        store.check_root()
        lock = store.disk.lock_shared(store.make_queue_again(folders.queue).paused_jobs)
    if lock is None:
        return None
    if not store.disk.exists(folders.paused):
        return lock
    store.disk.unlock(lock)
    return None


def pause_queue(store: Store, queue: str) -> None:
    """Stop claims from a queue: when this returns, those under way have landed."""
    folders = store.make_queue(queue)
    store.put(folders.paused, b'{\n  "paused": true\n}\n')
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            lock = store.disk.try_lock(folders.paused_jobs)
        except BlockingIOError:
            time.sleep(0.001)
            continue
        if lock is not None:
            store.disk.unlock(lock)
        return


def resume_queue(store: Store, queue: str) -> None:
    """Allow claims again."""
    folders = store.folders(queue)
    if not store.disk.unlink(folders.paused):
        store.check_root()
    # Also where it was gone: whoever removed it may have died before that was durable.
    if store.disk.exists(folders.root):
        store.disk.sync_folder(folders.root)
