"""A heap whose entries can be taken back: they are marked, and skipped when they surface."""

from __future__ import annotations

from collections import deque
from heapq import heapify, heappop, heappush
from itertools import chain, count, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferryman.backends.memory.row import Row

# What it is ordered by, a number that makes it unique, and the row (None once it was dropped).
# Rows have no order, so the comparison must never reach them.
Entry = list[Any]

COMPACT_ABOVE: Final = 64

_numbers = count()


class Heap:
    """Rows by an order of their own, smallest first. Its length counts what was not dropped.

    Most rows come in order: those stand in a queue of their own, where the next costs no search.
    """

    __slots__ = ("_dropped", "_entries", "_in_order")

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._in_order: deque[Entry] = deque()
        self._dropped = 0

    def __len__(self) -> int:
        return len(self._entries) + len(self._in_order) - self._dropped

    def push(
        self, row: Row, first: float, second: float = 0, third: float = 0, fourth: float = 0
    ) -> Entry:
        """Add a row by up to four numbers; the entry is what `drop` takes."""
        entry: Entry = [first, second, third, fourth, next(_numbers), row]
        in_order = self._in_order
        if not in_order or in_order[-1] < entry:
            in_order.append(entry)
        else:
            heappush(self._entries, entry)
        return entry

    def drop(self, entry: Entry) -> None:
        """Take an entry back, wherever it is."""
        entry[-1] = None
        self._dropped += 1
        # Otherwise jobs that left early (cancelled, deleted) would stay until their time came.
        if self._dropped > COMPACT_ABOVE and self._dropped > len(self):
            self._entries = [entry for entry in self._entries if entry[-1] is not None]
            self._in_order = deque(entry for entry in self._in_order if entry[-1] is not None)
            self._dropped = 0
            heapify(self._entries)

    def top(self) -> Entry | None:
        """The smallest entry that was not dropped."""
        entries, in_order = self._entries, self._in_order
        while in_order and in_order[0][-1] is None:
            in_order.popleft()
            self._dropped -= 1
        while entries and entries[0][-1] is None:
            heappop(entries)
            self._dropped -= 1
        firsts = [*entries[:1], *islice(in_order, 1)]
        return min(firsts, default=None)

    def least(self, number: int) -> float | None:
        """The smallest of one of the numbers by which rows were added."""
        entries: Iterable[Entry] = chain(self._entries, self._in_order)
        if self._dropped:
            entries = (entry for entry in entries if entry[-1] is not None)
        return min(map(itemgetter(number), entries), default=None)

    def pop(self) -> Row | None:
        """Remove the smallest row."""
        entries, in_order = self._entries, self._in_order
        while entries or in_order:
            if in_order and not (entries and entries[0] < in_order[0]):
                entry = in_order.popleft()
            else:
                entry = heappop(entries)
            row: Row | None = entry[-1]
            if row is not None:
                return row
            self._dropped -= 1
        return None
