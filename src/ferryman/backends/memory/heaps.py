"""A heap whose entries can be taken back: they are marked, and skipped when they surface."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ferryman.backends.memory.row import Row

# What it is ordered by, a number that makes it unique, and the row (None once it was dropped).
# Rows have no order, so the comparison must never reach them.
Entry = list[Any]

COMPACT_ABOVE: Final = 64

_numbers = count()


class Heap:
    """Rows by an order of their own, smallest first. Its length counts what was not dropped."""

    __slots__ = ("_dropped", "_entries")

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._dropped = 0

    def __len__(self) -> int:
        return len(self._entries) - self._dropped

    def push(self, row: Row, *order: float) -> Entry:
        """Add a row; the entry is what `drop` takes."""
        entry = [*order, next(_numbers), row]
        heappush(self._entries, entry)
        return entry

    def drop(self, entry: Entry) -> None:
        """Take an entry back, wherever it is."""
        entry[-1] = None
        self._dropped += 1
        # Otherwise jobs that left early (cancelled, deleted) would stay until their time came.
        if self._dropped > COMPACT_ABOVE and self._dropped * 2 > len(self._entries):
            self._entries = [entry for entry in self._entries if entry[-1] is not None]
            self._dropped = 0
            heapify(self._entries)

    def top(self) -> Entry | None:
        """The smallest entry that was not dropped."""
        entries = self._entries
        while entries and entries[0][-1] is None:
            heappop(entries)
            self._dropped -= 1
        return entries[0] if entries else None

    def pop(self) -> Row | None:
        """Remove the smallest row."""
        entries = self._entries
        while entries:
            row: Row | None = heappop(entries)[-1]
            if row is not None:
                return row
            self._dropped -= 1
        return None
