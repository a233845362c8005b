"""Sleeping until something happens to files, by inotify where the system has it."""

from __future__ import annotations

import ctypes
import os
import select
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

# From <sys/inotify.h>; the kernel's interface, the same on every architecture.
MODIFIED: Final = 0x2
ATTRIBUTES: Final = 0x4
MOVED_IN: Final = 0x80
CREATED: Final = 0x100
DELETED: Final = 0x400
MOVED: Final = 0x800
_ONE_READ: Final = 65_536


class Eye:
    """Sleeps until something that it watches happens, or `ring` is called.

    A watch is no descriptor on the watched file: closing it drops nobody's locks.
    """

    def __init__(self, inotify: int) -> None:
        self._inotify = inotify
        self._bell = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._both = select.epoll()
        self._both.register(inotify, select.EPOLLIN)
        self._both.register(self._bell, select.EPOLLIN)
        self.pid = os.getpid()

    @classmethod
    def on(cls, watches: Mapping[str, int]) -> Eye | None:
        """An eye on paths, each with what to look for; None where the system has none to give."""
        if not sys.platform.startswith("linux"):
            return None
        libc = ctypes.CDLL(None, use_errno=True)
        inotify = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if inotify < 0:
            return None
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
