"""The store's time: the file system's own, so that a process with a wrong clock harms nobody."""

from __future__ import annotations

import errno
import time
from typing import TYPE_CHECKING, Final

from ferryman.backends.files.moments import whole
from ferryman.clock import SystemClock

if TYPE_CHECKING:
    from ferryman.backends.files.disk import Disk

FRESH: Final = 1.0
"""Seconds for which an answer of the file system is carried on by the steady clock."""
GRAIN: Final = 0.05
"""Seconds by which a stamp may lag behind: a tick of the kernel, and some."""


class FileClock(SystemClock):
    """Wall time as the file system stamps its files; steady time as the machine counts it."""

    def __init__(self, disk: Disk, probe: str, *, shared: bool = False) -> None:
        self._disk = disk
        self._shared = shared
        self._probe = probe
        self._offset = 0.0
        self._asked_at = -FRESH

    def now(self) -> float:
        steady = self.monotonic()
        if steady - self._asked_at >= FRESH:
            steady = self._ask()
        return whole(steady + self._offset)

    def steady(self, moment: float) -> float:
        """What `monotonic` says at a moment, by what was asked last."""
        return moment - self._offset

    def _ask(self) -> float:
        """Ask the file system anew. An answer that took long is late, and late is never early.

        Its stamps are some milliseconds coarse. Where one lies between two looks at the machine's
        clock, that is the same clock, and finer.
        """
        before = time.clock_gettime(time.CLOCK_REALTIME)
        stamp = self._stamp()
        steady, wall = self.monotonic(), time.clock_gettime(time.CLOCK_REALTIME)
        agrees = not self._shared and before - GRAIN <= stamp <= wall
        self._offset = (wall if agrees else stamp) - steady
        self._asked_at = steady
        return steady

    def _stamp(self) -> float:
        try:
            return self._disk.time(self._probe)
        except OSError as error:
            if error.errno != errno.EROFS:
                raise
            # Nothing can be claimed or ended here: for a look the machine's clock is good enough.
            return time.clock_gettime(time.CLOCK_REALTIME)

    def monotonic(self) -> float:
        return time.clock_gettime(_STEADY)


_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
