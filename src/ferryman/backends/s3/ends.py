"""Relaxed: the end of a job in the bucket, and what becomes of a second one.

Of two ends of one generation the earlier stands, by the server's time; the other is kept under
`duplicates/`. Whoever sees both settles it, and all come to the same answer. A later generation
takes the place of an earlier one, whose further ends are kept under `duplicates/` all the same.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple

from ferryman.backends.files.document import parse, record_text
from ferryman.backends.files.layout import ENDS
from ferryman.backends.files.names import name_of
from ferryman.backends.s3.answers import Lost
from ferryman.backends.s3.sight import read_record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferryman.backends.files.row import Row
    from ferryman.backends.s3.answers import Object
    from ferryman.backends.s3.node import Node
    from ferryman.job import State


class Carried(NamedTuple):
    """What became of an end: `stands` instead of it, if not None. `alone`: it met no other."""

    stands: Row | None
    alone: bool


class Ends:
    """Records in the bucket, all by the server's time.

    A record keeps in `earlier` by which claims the generations before it ended: an end of theirs
    that comes late is then known as the one that stood, or as another.
    """

    def __init__(self, node: Node) -> None:
        self._bucket = node.bucket
        self._home = node.home
        self._doubled: set[tuple[str, str]] = set()

    def carry(self, row: Row) -> Carried:
        """Write how a job ended."""
        name = name_of(row.id)
        key = self._home.record(row.queue, row.state, name)
        mine = self._bucket.put_new(key, _body(row))
        found = self._others(row, name)
        if isinstance(mine, Lost) and mine.found is not None:
            found = {row.state: mine.found, **found}
        rivals = [_Rival(state, record, row.queue, name) for state, record in found.items()]
        etag = mine if isinstance(mine, str) else None
        known = next((rival for rival in rivals if rival.is_end(row)), None)
        if known is not None and known.row is not None:
            # As others see it: all must judge by the same times.
            row, etag = known.row, known.record.etag
            rivals.remove(known)
        for rival in rivals:
            if rival.row is not None and rival.stands_against(row):
                if not rival.tells_of(row):
                    self._keep_duplicate(row)
                if etag is not None:
                    self._bucket.delete(key, etag)
                return Carried(rival.row, alone=False)
        self._take_place_of(rivals, key, row, etag, {} if known is None else known.earlier)
        return Carried(None, alone=known is None and not rivals)

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

    def _take_place_of(
        self,
        rivals: Sequence[_Rival],
        key: str,
        row: Row,
        etag: str | None,
        told: Mapping[str, str],
    ) -> None:
        """Put this end in the place of all that were found, and let it tell of earlier ones.

        `etag` is that of its record, if that is there, and `told` what it tells already.
        """
        earlier = dict(told)
        for rival in rivals:
            earlier |= rival.earlier
            if rival.row is not None and rival.is_before(row):
                earlier[str(rival.row.generation)] = _mark(rival.row)
            elif rival.row is not None:
                self._keep_duplicate(rival.row)
            if rival.state is row.state:
                etag = rival.record.etag
        if etag is not None and (earlier != told or any(r.state is row.state for r in rivals)):
            self._bucket.put_over(key, _body(row, earlier), etag)
        # Last: until then they say how the generations before it ended.
        for rival in rivals:
            if rival.state is not row.state:
                other = self._home.record(row.queue, rival.state, name_of(row.id))
                self._bucket.delete(other, rival.record.etag)

    def _keep_duplicate(self, row: Row) -> None:
        """One object for each second end, whoever keeps it."""
        nonce = hashlib.sha256(f"{_mark(row)} {row.generation}".encode()).hexdigest()[:16]
        name = name_of(row.id)
        self._bucket.put(self._home.duplicate(row.queue, name, nonce), _body(row))
        self._doubled.add((row.queue, name))


class _Rival:
    """A record that was found in the bucket; `row` is None if nobody can read it."""

    def __init__(self, state: State, record: Object, queue: str, name: str) -> None:
        self.state = state
        self.record = record
        self.row = read_record(record.body, queue, name, state)
        self.earlier: Mapping[str, str] = {}
        if self.row is not None:
            earlier = parse(record.body).get("earlier")
            self.earlier = earlier if isinstance(earlier, dict) else {}

    def stands_against(self, row: Row) -> bool:
        """Whether it is of a later generation, or the earlier of two ends of one."""
        if self.row is None or self.is_before(row):
            return False
        return self.row.generation > row.generation or _earlier(self.row, row)

    def is_before(self, row: Row) -> bool:
        """Whether it is of an earlier generation, or of none that is known."""
        return self.row is None or self.row.generation < row.generation

    def is_end(self, row: Row) -> bool:
        """Whether it is the record of this very end."""
        if self.row is None:
            return False
        return self.row.generation == row.generation and alike(self.row, row)

    def tells_of(self, row: Row) -> bool:
        """Whether an earlier generation stood by this very end."""
        return self.earlier.get(str(row.generation)) == _mark(row)


def alike(one: Row, other: Row) -> bool:
    """Whether two records tell of one end; a mark names the claim that ended, and its worker."""
    return (one.settled, one.worker, one.state) == (other.settled, other.worker, other.state)


def _earlier(one: Row, other: Row) -> bool:
    return _moment(one) < _moment(other)


def _moment(row: Row) -> tuple[float, str, str]:
    return row.finished_at or 0.0, row.settled or "", row.state.value


def _mark(row: Row) -> str:
    return f"{row.state} {row.settled} {row.worker}"


def _body(row: Row, earlier: Mapping[str, str] | None = None) -> bytes:
    text = record_text(row, handed_off=True)
    if not earlier:
        return text
    fact = f',\n  "earlier": {json.dumps(earlier, ensure_ascii=False)}\n}}\n'
    return text.rstrip().removesuffix(b"}").rstrip() + fact.encode()
