"""Relaxed: each machine keeps its own time, and what travels is told by the server's."""

from __future__ import annotations

import dataclasses
from copy import copy
from typing import TYPE_CHECKING, Final

from ferryman.backends.files.moments import whole

if TYPE_CHECKING:
    from ferryman.backends.files.row import Row
    from ferryman.backends.s3.clock import ServerClock
    from ferryman.clock import Clock

ALIKE: Final = 0.1
"""Seconds, beyond what is known for sure, for which two clocks count as the same."""
_TIMES: Final = (
    "created_at",
    "ready_at",
    "started_at",
    "finished_at",
    "deadline",
    "heartbeat_at",
    "expires_at",
)


class Skew:
    """How far the server is ahead of this machine, and jobs told by the one clock or the other.

    The lead is known within bounds. Both ways take the bound that makes a job later: a machine
    whose clock is an hour off then starts nothing early, and nobody starts its jobs early.
    """

    def __init__(self, server: ServerClock, local: Clock) -> None:
        self._server = server
        self._local = local

    def up(self, row: Row) -> Row:
        """A row of this machine by the server's time."""
        return _moved(row, self._lead()[1])

    def down(self, row: Row) -> Row:
        """A row of the bucket by this machine's time."""
        return _moved(row, -self._lead()[0])

    def _lead(self) -> tuple[float, float]:
        low = self._server.now() - self._local.now()
        high = low + self._server.doubt
        return (0.0, 0.0) if low - ALIKE <= 0 <= high + ALIKE else (low, high)


class NoSkew(Skew):
    """Where one clock was given to all: what travels is told by it."""

    def _lead(self) -> tuple[float, float]:
        return 0.0, 0.0


def _moved(row: Row, seconds: float) -> Row:
    if not seconds:
        return row
    row = copy(row)
    for name in _TIMES:
        moment = getattr(row, name)
        if moment:
            setattr(row, name, whole(moment + seconds))
    row.errors = [dataclasses.replace(error, at=error.at + seconds) for error in row.errors]
    row.logs = [dataclasses.replace(line, at=line.at + seconds) for line in row.logs]
    return row
