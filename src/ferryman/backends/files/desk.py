"""What one process keeps at hand while it works on a store."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ferryman.backends.files.adoption import Adoption
from ferryman.backends.files.claims import Claims, Index
from ferryman.backends.files.ground import BOOT_MARK
from ferryman.backends.files.line import Line
from ferryman.backends.files.sweep import Sweeper

if TYPE_CHECKING:
    from ferryman.backends.files.store import Store


class Desk:
    """Candidates that were read, claims that were made; all of it can be lost without harm."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.claims = Claims()
        self.index = Index(store)
        self.adoption = Adoption(self)
        self.sweeper = Sweeper(self)
        self._lines: dict[str, Line] = {}
        self._deadlines: dict[str, Line] = {}
        self._lock = threading.Lock()

    def line(self, queue: str) -> Line | None:
        """The jobs of a queue that may be claimable; None if there is no such queue."""
        line = self._lines.get(queue)
        if line is None:
            folders = self.store.folders(queue)
            if not self.store.disk.exists(folders.pending):
                self.store.check_root()
                return None
            self.store.make_queue(queue)
            self.sweeper.rebuild_if_needed(folders)
            with self._lock:
                line = self._lines.setdefault(queue, Line(self.store, folders.ready, BOOT_MARK))
        elif line.lost:
            self.sweeper.rebuild_if_needed(self.store.folders(queue))
        return line

    def deadlines(self, queue: str) -> Line:
        """The waiting jobs of a queue that have a deadline."""
        line = self._deadlines.get(queue)
        if line is None:
            folders = self.store.make_queue(queue)
            self.sweeper.rebuild_if_needed(folders)
            with self._lock:
                line = self._deadlines.setdefault(queue, Line(self.store, folders.expiring))
        elif line.lost:
            self.sweeper.rebuild_deadlines(self.store.folders(queue))
        return line

    def sweep(self, queue: str) -> bool:
        """Look for jobs without hints if it is time to; whether one was found."""
        return self.sweeper.sweep_if_due(self.store.folders(queue))
