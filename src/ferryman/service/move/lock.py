"""One move at a time from a store: two could undo what the other has just done."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from ferryman.errors import NotAllowed
from ferryman.ids import worker_id
from ferryman.queue.cell import read_cell

if TYPE_CHECKING:
    from ferryman.queue.answers import Cell
    from ferryman.queue.contract import Backend

KEY: Final = "move/lock"
SECONDS: Final = 60.0

_held_here: set[str] = set()


class Lock:
    """A cell of the source that names the move; it expires unless each page renews it."""

    def __init__(self, source: Backend) -> None:
        self._source = source
        self._me = worker_id()
        self._version = 0

    def __enter__(self) -> Lock:
        """`NotAllowed` while another move holds it."""
        held = read_cell(self._source, KEY)
        if held is not None and _is_dead(held.value, self._me):
            self._version = held.version
        self.renew()
        return self

    def __exit__(self, *_: object) -> None:
        """Let the next one begin at once."""
        _held_here.discard(self._me)
        self._source.write_cell(KEY, None, expect=self._version)

    def is_on(self, store: Backend) -> bool:
        """Whether this store is the one that is locked, however it was opened."""
        held = read_cell(store, KEY)
        return held is not None and held.value == self._me

    def renew(self) -> None:
        """Hold it for another while."""
        cell = self._write(self._version) or self._write(0)
        if cell is None:
            held = read_cell(self._source, KEY)
            who = "another process" if held is None else held.value
            raise NotAllowed(
                f"another move from this store is under way ({who}): wait for its end, "
                f"or, if it died, for {SECONDS:g} s"
            )
        self._version = cell.version
        _held_here.add(self._me)

    def _write(self, expect: int) -> Cell | None:
        return self._source.write_cell(KEY, self._me, expect=expect, ttl=SECONDS)


def _is_dead(owner: str, me: str) -> bool:
    """Whether it was a process of this machine that is no more; of others nobody can tell."""
    host, pid = _host_and_pid(owner)
    if host != _host_and_pid(me)[0] or not pid.isdecimal():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    # A container that was started again has the number and the name of the one before.
    return int(pid) == os.getpid() and owner not in _held_here


def _host_and_pid(owner: str) -> tuple[str, str]:
    host, _, rest = owner.rpartition(":")[0].rpartition(":")
    return host, rest
