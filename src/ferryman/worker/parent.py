"""What a process knows of the one that started it."""

from __future__ import annotations

import os
import signal
import sys
from typing import Final

PR_SET_PDEATHSIG: Final = 1
STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
"""Terminals and service managers send them to all processes; only the worker shall act on them."""

_is_child = False


def is_child() -> bool:
    """Whether this process runs the jobs of a worker that is another process."""
    return _is_child


def become_child() -> None:
    global _is_child  # noqa: PLW0603 - a fact about the process
    _is_child = True


def end_with_parent(parent: int, signal_number: int) -> None:
    """Get that signal when the parent is gone, however it ended.

    Linux only; it watches the *thread* that started this process. Elsewhere the end of a pipe must
    do.
    """
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal_number, 0, 0, 0)
    if os.getppid() != parent:  # it ended before we could ask
        os.kill(os.getpid(), signal_number)
