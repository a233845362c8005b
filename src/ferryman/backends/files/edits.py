"""Jobs that people have edited, copied or moved: what leads to them may lead elsewhere now."""

from __future__ import annotations

import contextlib
from math import inf
from typing import TYPE_CHECKING, Final

from ferryman.backends.files.document import Unreadable, parse
from ferryman.backends.files.ground import BOOT_MARK
from ferryman.backends.files.place import held
from ferryman.backends.files.reading import read_waiting

if TYPE_CHECKING:
    from ferryman.backends.files.calls import Found
    from ferryman.backends.files.desk import Desk
    from ferryman.backends.files.layout import Folders
    from ferryman.backends.files.place import Held

EVERY: Final = 60.0
"""Seconds after which a queue is looked through, however busy it is."""
SETTLED: Final = 1.0
"""Seconds after its push in which a task's file is still being written by that push."""


class Edits:
    """One pass over a queue's jobs; `.ready/looked` says when the last one of any process began.

    A hint leads to where a job stood when it was written. A task that is due earlier now, or more
    urgent, would stand there until its old turn; and a folder that was copied or moved has the mark
    of the one it was, but nothing leads to it.
    """

    def __init__(self, desk: Desk, folders: Folders) -> None:
        self._store = store = desk.store
        self._adoption = desk.adoption
        self._folders = folders
        self._mark = f"{folders.ready}/looked"
        last = store.disk.look(self._mark)
        # Before the first pass all hints are as good as those that were written last.
        since = last or store.disk.look(f"{folders.ready}/{BOOT_MARK}")
        self._since = inf if since is None else since.changed_at
        if last is None:
            self.due = store.disk.exists(folders.ready)
        else:
            self.due = store.file_clock.now() - last.changed_at > EVERY

    def begin(self) -> None:
        """Whatever is edited from now on is for the next pass."""
        self._store.put_hint(self._mark, b"")

    def look_at(self, name: str, folder: Found) -> None:
        """Take in a job anew if somebody may have touched it since the last pass."""
        task = self._store.disk.look(f"{self._folders.job(name)}/task.json")
        # What we do in a folder changes its content; a new name or place does not.
        moved = folder.moved_at > max(self._since, folder.changed_at + SETTLED)
        if task is None or not (moved or _touched_at(task) >= self._since):
            return
        # A lock that is held: whoever holds it reads the task, or has just written it.
        with (
            contextlib.suppress(BlockingIOError, Unreadable),
            held(self._store, self._folders, name, wait=False) as place,
        ):
            if place is not None and (moved or self._is_edited(place, task)):
                self._store.disk.set_hinted(place.lock, False)
                self._adoption.adopt(place)

    def _is_edited(self, place: Held, task: Found) -> bool:
        row = read_waiting(self._store, place)
        if row is None or _touched_at(task) > row.created_at + SETTLED:
            return row is not None
        # A copy that was made at once tells of the job it was made of.
        told = parse(self._store.disk.read("task.json", place.lock) or b"{}").get("id")
        return told is not None and told != row.id


def _touched_at(task: Found) -> float:
    """When it was edited, or put where it is: what was prepared elsewhere keeps its time."""
    return max(task.changed_at, task.moved_at)
