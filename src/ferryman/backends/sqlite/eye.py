"""Seeing another process's commit when it happens: inotify on SQLite's log, where there is one."""

from __future__ import annotations

import ctypes
import os
import select
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

# From <sys/inotify.h>; the kernel's interface, the same on every architecture.
_MODIFY: Final = 0x2
_ATTRIBUTES: Final = 0x4
_DELETED: Final = 0x400
_MOVED: Final = 0x800
_ONE_READ: Final = 65_536


class Eye:
    """Sleeps until the log is written to, the database is deleted or moved, or `ring` is called.

    It opens neither file: a watch is no descriptor on them, so closing it drops none of SQLite's
    locks.
    """

    def __init__(self, inotify: int) -> None:
        self._inotify = inotify
        self._bell = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._both = select.epoll()
        self._both.register(inotify, select.EPOLLIN)
        self._both.register(self._bell, select.EPOLLIN)
        self.pid = os.getpid()

    @classmethod
    def on(cls, database: Path) -> Eye | None:
        """An eye on a database that is open; None where the system has none to give."""
        if not sys.platform.startswith("linux"):
            return None
        libc = ctypes.CDLL(None, use_errno=True)
        inotify = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if inotify < 0:
            return None
        watches = {f"{database}-wal": _MODIFY, f"{database}": _ATTRIBUTES | _DELETED | _MOVED}
        for path, mask in watches.items():
            if libc.inotify_add_watch(inotify, os.fsencode(path), mask) < 0:
                os.close(inotify)
                return None
        return cls(inotify)

    def ring(self) -> None:
        """End the sleep, or the next one if nobody sleeps."""
        os.eventfd_write(self._bell, 1)

    def sleep(self, seconds: float) -> bool:
        """Whether something happened within that time."""
        happened = self._both.poll(seconds)
        for descriptor, _ in happened:
            if descriptor == self._bell:
                os.eventfd_read(self._bell)
            else:
                os.read(self._inotify, _ONE_READ)
        return bool(happened)

    def close(self) -> None:
        self._both.close()
        os.close(self._bell)
        os.close(self._inotify)
