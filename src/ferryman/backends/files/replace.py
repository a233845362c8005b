"""replace: another body for a job that waits."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from ferryman.backends.files.document import task_text
from ferryman.backends.files.entry import enter
from ferryman.backends.files.hints import announce
from ferryman.backends.files.names import name_of
from ferryman.backends.files.place import Held, Place
from ferryman.backends.files.reading import read_job
from ferryman.backends.files.removal import mark_paused, remove_job
from ferryman.job import WAITING, State

if TYPE_CHECKING:
    from ferryman.backends.files.layout import Folders
    from ferryman.backends.files.row import Row
    from ferryman.backends.files.store import Store
    from ferryman.message import Message

PATIENCE: Final = 5.0
"""Seconds to wait for a job that somebody else is just changing."""


def replace(store: Store, folders: Folders, job_id: str, message: Message, now: float) -> bool:
    """Put a message's body and options into a job; False if it waits no longer."""
    name = name_of(job_id)
    lock = _lock(store, folders.job(name))
    if lock is None:
        return False
    place = Held(folders, name, lock)
    try:
        row = read_job(store, place)
        if row is None or row.state not in WAITING or store.ended(folders, name):
            return False
        row.adopt(message, now)
        row.revision += 1
        if message.queue != row.queue:
            _move(store, place, row, message.queue, now)
        else:
            # The hint first: whoever follows it too early finds the lock held, and comes again.
            announce(store, folders, row, now)
            store.commit()
            store.put_in(place, "task.json", task_text(row), sync=True)
        return True
    finally:
        store.disk.unlock(lock)


def _lock(store: Store, folder: str) -> int | None:
    """The job's lock, but not for ever: the caller may hold a key that the lock's holder needs."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return store.disk.try_lock(folder)
        except BlockingIOError:
            if time.monotonic() > until:
                raise
            time.sleep(0.001)


def _move(store: Store, place: Held, row: Row, queue: str, now: float) -> None:
    """Into another queue: the new folder stands before the old one goes.

    Without its mark nobody claims the old one, and a sweep that finds both keeps the higher
    revision.
    """
    store.disk.set_hinted(place.lock, False)
    row.queue = queue
    row.start_anew()
    row.own_facts = True
    mark_paused(store, Place(store.make_queue(queue), place.name), row.state is State.PAUSED)

    def leave_the_old_queue() -> None:
        mark_paused(store, place, False)
        remove_job(store, place)

    enter(store, [row], now, succeed=leave_the_old_queue)
