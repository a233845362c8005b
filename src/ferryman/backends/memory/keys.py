"""Which jobs of a queue carry a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.job import WAITING

if TYPE_CHECKING:
    from ferryman.backends.memory.row import Row
    from ferryman.message import Unique


class Keys:
    """Jobs by (queue, key): all of them by their time, and apart the few that are unfinished."""

    def __init__(self) -> None:
        self._pushed: dict[tuple[str, str], dict[int, Row]] = {}
        self._unfinished: dict[tuple[str, str], dict[int, Row]] = {}

    def add(self, row: Row) -> None:
        """Index a row that is new or got its key; rows without a key are left out."""
        place = _place(row)
        if place is None:
            return
        rows = self._pushed.setdefault(place, {})
        newest = not rows or _age(row) > _age(next(reversed(rows.values())))
        rows[row.seq] = row
        if not newest:
            self._pushed[place] = {each.seq: each for each in sorted(rows.values(), key=_age)}
        self.move(row)

    def move(self, row: Row) -> None:
        """Follow a row's change of state."""
        place = _place(row)
        if place is None:
            return
        if row.state.terminal:
            _discard(self._unfinished, place, row)
        else:
            self._unfinished.setdefault(place, {})[row.seq] = row

    def remove(self, row: Row) -> None:
        """Forget a row: it is deleted, or about to get another key."""
        place = _place(row)
        if place is not None:
            _discard(self._pushed, place, row)
            _discard(self._unfinished, place, row)

    def holder(self, queue: str, key: str, unique: Unique, now: float) -> Row | None:
        """The newest job that stands in the way of another one with this key."""
        if isinstance(unique, int | float):
            newest = next(reversed(self._pushed.get((queue, key), {}).values()), None)
            return newest if newest is not None and newest.created_at > now - unique else None
        unfinished = reversed(self._unfinished.get((queue, key), {}).values())
        wanted = (row for row in unfinished if unique == "unfinished" or row.state in WAITING)
        return next(wanted, None)

    def held_by_another(self, row: Row) -> bool:
        """Whether an unfinished job other than `row` has its key."""
        place = _place(row)
        return place is not None and bool(self._unfinished.get(place, {}).keys() - {row.seq})


def _place(row: Row) -> tuple[str, str] | None:
    key = row.message.key
    return None if key is None else (row.message.queue, key)


def _age(row: Row) -> tuple[float, int]:
    # A restored row is younger than its time says: push order alone would hide a recent one.
    return row.created_at, row.seq


def _discard(
    index: dict[tuple[str, str], dict[int, Row]], place: tuple[str, str], row: Row
) -> None:
    rows = index.get(place)
    if rows is not None:
        rows.pop(row.seq, None)
        if not rows:
            del index[place]
