"""Waiting tasks that people have edited: their place in line may be another now."""

from __future__ import annotations

import contextlib
from math import inf
from typing import TYPE_CHECKING, Final

from ferryman.backends.files.document import Unreadable
from ferryman.backends.files.hints import announce
from ferryman.backends.files.place import held
from ferryman.backends.files.reading import read_job
from ferryman.job import State

if TYPE_CHECKING:
    from ferryman.backends.files.layout import Folders
    from ferryman.backends.files.store import Store

EVERY: Final = 60.0
"""Seconds after which a queue is looked through, however busy it is."""
SETTLED: Final = 1.0
"""Seconds after its push in which a task's file is still being written by that push."""


class Edits:
    """One pass over a queue's tasks; `.ready/looked` says when the last one of any process began.

    A hint leads to where a job stood when it was written. A task that is due earlier now, or more
    urgent, would stand there until its old turn.
    """

    def __init__(self, store: Store, folders: Folders) -> None:
        self._store = store
        self._folders = folders
        self._mark = f"{folders.ready}/looked"
        last = store.disk.look(self._mark)
        # Without a last pass there is nothing to compare with: the hints are as good as new.
        self._since = inf if last is None else last.changed_at
        if last is None:
            self.due = store.disk.exists(folders.ready)
        else:
            self.due = store.file_clock.now() - last.changed_at > EVERY

    def begin(self) -> None:
        """Whatever is edited from now on is for the next pass."""
        self._store.put_hint(self._mark, b"")

    def look_at(self, name: str) -> None:
        """Line up a job anew if its task was edited since the last pass."""
        seen = self._store.disk.look(f"{self._folders.job(name)}/task.json")
        if seen is None or seen.changed_at < self._since:
            return
        # A lock that is held: whoever holds it reads the task, or has just written it.
        with (
            contextlib.suppress(BlockingIOError, Unreadable),
            held(self._store, self._folders, name, wait=False) as place,
        ):
            row = None if place is None else read_job(self._store, place)
            if row is None or row.state is not State.PENDING:
                return
            if seen.changed_at > row.created_at + SETTLED:
                announce(self._store, self._folders, row, self._store.now())
