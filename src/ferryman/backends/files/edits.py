"""Jobs that people have edited, copied or moved: what leads to them may lead elsewhere now."""

from __future__ import annotations

import contextlib
from math import inf
from typing import TYPE_CHECKING, Final

from ferryman.backends.files.document import parse
from ferryman.backends.files.ground import BOOT_MARK
from ferryman.backends.files.moments import moment_of
from ferryman.backends.files.names import name_of
from ferryman.backends.files.place import held

if TYPE_CHECKING:
    from ferryman.backends.files.calls import Found
    from ferryman.backends.files.desk import Desk
    from ferryman.backends.files.layout import Folders

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
        disk = store.disk
        # Before the first pass all hints are as good as those that were written last.
        last = disk.look(self._mark) or disk.look(f"{folders.ready}/{BOOT_MARK}")
        self._since = inf if last is None else last.changed_at
        if last is None:
            self.due = disk.exists(folders.ready)
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
        if task is None or not (moved or self._is_edited(name, _touched_at(task))):
            return
        # A lock that is held: whoever holds it reads the task, or has just written it.
        with (
            contextlib.suppress(BlockingIOError),
            held(self._store, self._folders, name, wait=False) as place,
        ):
            if place is not None:
                self._store.disk.set_hinted(place.lock, False)
                self._adoption.adopt(place)

    def _is_edited(self, name: str, touched_at: float) -> bool:
        """Whether a task is another than the push of this job wrote, or may be."""
        if touched_at < self._since:
            return False
        content = self._store.disk.read(f"{self._folders.job(name)}/task.json")
        try:
            facts = parse(content or b"")
            pushed_at = moment_of(facts["created_at"])
            # A copy that was made at once tells of the job it was made of.
            return touched_at > pushed_at + SETTLED or name_of(facts["id"]) != name
        except (KeyError, TypeError, ValueError):
            return content is not None


def _touched_at(task: Found) -> float:
    """When it was edited, or put where it is: what was prepared elsewhere keeps its time."""
    return max(task.changed_at, task.moved_at)
