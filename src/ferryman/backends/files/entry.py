"""A job enters its queue whole, by one rename, after its text is on the disk."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

from ferryman.backends.files.document import history_text, task_text
from ferryman.backends.files.hints import announce, announce_all
from ferryman.backends.files.names import name_of
from ferryman.backends.files.place import held
from ferryman.backends.files.removal import forget_job

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ferryman.backends.files.layout import Folders
    from ferryman.backends.files.row import Row
    from ferryman.backends.files.store import Store

TOGETHER: Final = 200
"""Jobs that enter in one go: each holds a descriptor until it has its hint."""


def enter(
    store: Store, rows: Sequence[Row], now: float, *, succeed: Callable[[], None] | None = None
) -> list[Row]:
    """Write jobs and let them appear; those whose id was taken meanwhile are left out.

    `succeed` takes away what a job takes the place of, which is no rival therefore. Until that is
    done the job has no mark, and a sweep looks at it.
    """
    drafts = [Draft(store, row, store.make_queue(row.queue), name_of(row.id)) for row in rows]
    try:
        _write(store, drafts)
        moved = [draft for draft in drafts if draft.move(store)]
        for folder in {draft.folders.pending for draft in moved}:
            store.disk.sync_folder(folder)
        if succeed is None:
            moved = _without_rivals(store, moved)
        elif moved:
            succeed()
        _announce(store, moved, now)
        return [draft.row for draft in moved]
    finally:
        for draft in drafts:
            draft.release(store)


def enter_alone(store: Store, row: Row, folders: Folders, name: str, now: float) -> bool:
    """The same steps for one job, which is what most pushes are."""
    draft = Draft(store, row, folders, name)
    try:
        draft.write(store, sync=True)
        if not draft.move(store):
            return False
        store.disk.sync_folder(folders.pending)
        if elsewhere(store, folders, name, store.queues()):
            draft.discard(store, draft.place)
            return False
        # Without its hints, or their mark, the job is safe, and a sweep finds it.
        with contextlib.suppress(OSError):
            announce(store, folders, row, now)
            store.disk.set_hinted(draft.lock, True)
        return True
    finally:
        draft.release(store)


class Draft:
    """A job on its way into a queue: its folder lies in `.tmp`, locked, until it is moved.

    The lock goes along: nobody touches the job before its pusher has looked for rivals and written
    its hint, or has died.
    """

    __slots__ = ("folders", "lock", "name", "place", "row", "tmp")

    def __init__(self, store: Store, row: Row, folders: Folders, name: str) -> None:
        self.row = row
        self.folders = folders
        self.name = name
        self.place = f"{folders.pending}/{name}"
        self.tmp = f"{store.layout.tmp}/{store.nonce()}"
        self.lock = -1

    def write(self, store: Store, *, sync: bool) -> None:
        disk = store.disk
        disk.make_folder(self.tmp)
        lock = disk.lock(self.tmp)
        if lock is None:
            raise FileNotFoundError(2, "swept away while it was written", self.tmp)
        self.lock = lock
        disk.create("task.json", task_text(self.row), sync=sync, at=lock)
        if self.row.own_facts:
            disk.create("history.json", history_text(self.row), sync=sync, at=lock)
        if sync:
            disk.sync_folder(self.tmp, lock)

    def move(self, store: Store) -> bool:
        """Let the job appear; False if its name is taken."""
        store.commit()
        moved = store.disk.move_folder(self.tmp, self.place) or (
            self._clear_remains(store) and store.disk.move_folder(self.tmp, self.place)
        )
        if moved:
            self.tmp = ""
        return moved

    def discard(self, store: Store, where: str) -> None:
        """Take the job back from where it lies; nobody else could see it as claimable."""
        with contextlib.suppress(OSError):
            store.disk.unlink("task.json", self.lock)
            store.disk.unlink("history.json", self.lock)
            store.disk.remove_folder(where)

    def release(self, store: Store) -> None:
        """Let others at the job, or leave nothing behind if it did not come to that."""
        if self.lock >= 0:
            if self.tmp:
                self.discard(store, self.tmp)
            store.disk.unlock(self.lock)
            self.lock = -1

    def _clear_remains(self, store: Store) -> bool:
        """Whether what has the name was no job, only the rest of one, and is gone now."""
        with (
            contextlib.suppress(BlockingIOError),
            held(store, self.folders, self.name, wait=False) as place,
        ):
            if place is not None and not store.disk.exists("task.json", place.lock):
                forget_job(store, place)
                return True
        return False


def _write(store: Store, drafts: list[Draft]) -> None:
    together = store.sync_together(len(drafts))
    for draft in drafts:
        draft.write(store, sync=not together)
    if together:
        store.sync_all()


def _without_rivals(store: Store, moved: list[Draft]) -> list[Draft]:
    """Withdraw what exists elsewhere: another queue's job of this id, or its finished record.

    Of two pushes that cross, each has moved its job before it looks, so at least one sees the
    other.
    """
    queues = store.queues() if moved else ()
    alone = []
    for draft in moved:
        if elsewhere(store, draft.folders, draft.name, queues):
            draft.discard(store, draft.place)
        else:
            alone.append(draft)
    return alone


def elsewhere(store: Store, folders: Folders, name: str, queues: Sequence[str]) -> bool:
    """Whether the name is known in any place but this queue's `pending`."""
    if store.ended(folders, name):
        return True
    for queue in queues:
        if queue != folders.queue:
            others = store.folders(queue)
            if store.disk.exists(f"{others.pending}/{name}") or store.ended(others, name):
                return True
    return False


def _announce(store: Store, drafts: list[Draft], now: float) -> None:
    """Write the hints, and then that the jobs have them; like the hints, the mark may fail."""
    by_queue: dict[str, list[Draft]] = {}
    for draft in drafts:
        by_queue.setdefault(draft.row.queue, []).append(draft)
    for same in by_queue.values():
        with contextlib.suppress(OSError):
            announce_all(store, same[0].folders, [draft.row for draft in same], now)
            for draft in same:
                store.disk.set_hinted(draft.lock, True)
