"""Relaxed: the end of a job in the bucket, and what becomes of a second one.

Of two ends of one generation the earlier stands, by the server's time; the other is kept under
`duplicates/`. Whoever sees both settles it, and all come to the same answer.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from ferryman.backends.files.document import record_text
from ferryman.backends.files.layout import ENDS
from ferryman.backends.files.names import name_of
from ferryman.backends.s3.answers import Lost
from ferryman.backends.s3.sight import read_record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferryman.backends.files.row import Row
    from ferryman.backends.s3.answers import Object
    from ferryman.backends.s3.node import Node
    from ferryman.job import State


class Ends:
    """Records in the bucket, all by the server's time."""

    def __init__(self, node: Node) -> None:
        self._bucket = node.bucket
        self._home = node.home
        self._doubled: set[tuple[str, str]] = set()

    def carry(self, row: Row) -> Row | None:
        """Write how a job ended; None if that stands, else the end that stands instead."""
        name = name_of(row.id)
        key = self._home.record(row.queue, row.state, name)
        mine = self._bucket.put_new(key, _body(row))
        found = self._others(row, name)
        if isinstance(mine, Lost) and mine.found is not None:
            found = {row.state: mine.found, **found}
        etag = mine if isinstance(mine, str) else None
        for state, record in found.items():
            other = read_record(record.body, row.queue, name, state)
            if other is None or other.generation < row.generation:
                self._replace(key, row, state, record)
            elif alike(other, row):
                return None
            elif other.generation > row.generation or _earlier(other, row):
                self._keep_duplicate(row, other)
                if etag is not None:
                    self._bucket.delete(key, etag)
                return other
            else:
                self._keep_duplicate(other, row)
                self._replace(key, row, state, record)
        return None

    def doubled(self, queue: str, name: str) -> bool:
        """Whether a second end was found since the last time this was asked."""
        if (queue, name) not in self._doubled:
            return False
        self._doubled.discard((queue, name))
        return True

    def etag(self, row: Row) -> str:
        """What most servers call the record of this row."""
        return f'"{hashlib.md5(_body(row), usedforsecurity=False).hexdigest()}"'

    def _others(self, row: Row, name: str) -> Mapping[State, Object]:
        keys = {state: self._home.record(row.queue, state, name) for state in ENDS}
        found = {s: self._bucket.get(key) for s, key in keys.items() if s is not row.state}
        return {state: record for state, record in found.items() if record is not None}

    def _replace(self, key: str, row: Row, state: State, record: Object) -> None:
        """Put this end in the place of another; it stands already where their states differ."""
        if state is row.state:
            self._bucket.put_over(key, _body(row), record.etag)
        else:
            self._bucket.delete(self._home.record(row.queue, state, name_of(row.id)), record.etag)

    def _keep_duplicate(self, row: Row, stands: Row) -> None:
        """One object for each second end, whoever keeps it; of another generation it is none."""
        if row.generation != stands.generation:
            return
        mark = f"{row.state} {row.settled} {row.worker} {row.generation}"
        nonce = hashlib.sha256(mark.encode()).hexdigest()[:16]
        name = name_of(row.id)
        self._bucket.put(self._home.duplicate(row.queue, name, nonce), _body(row))
        self._doubled.add((row.queue, name))


def alike(one: Row, other: Row) -> bool:
    """Whether two records tell of one end; a mark names the claim that ended, and its worker."""
    return (one.settled, one.worker, one.state) == (other.settled, other.worker, other.state)


def _earlier(one: Row, other: Row) -> bool:
    return _moment(one) < _moment(other)


def _moment(row: Row) -> tuple[float, str, str]:
    return row.finished_at or 0.0, row.settled or "", row.state.value


def _body(row: Row) -> bytes:
    return record_text(row, handed_off=True)
