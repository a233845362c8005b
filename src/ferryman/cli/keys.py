"""Single keys from a terminal, without Enter and without echo."""

from __future__ import annotations

import os
import select
import sys
import termios
import time
import tty
from typing import Any


class Keys:
    """Listens while it is entered and leaves the terminal as it was.

    Where standard input is no terminal, no key is ever pressed.
    """

    def __init__(self) -> None:
        self._terminal = sys.stdin.fileno() if sys.stdin.isatty() else None
        self._before: list[Any] = []

    def __enter__(self) -> Keys:
        if self._terminal is not None:
            self._before = termios.tcgetattr(self._terminal)
            tty.setcbreak(self._terminal)
        return self

    def __exit__(self, *_: object) -> None:
        if self._terminal is not None:
            termios.tcsetattr(self._terminal, termios.TCSADRAIN, self._before)

    def pressed(self, timeout: float) -> str | None:
        """The key that comes within `timeout` seconds; empty when the terminal is gone."""
        if self._terminal is None:
            time.sleep(timeout)
            return None
        ready, _, _ = select.select([self._terminal], [], [], timeout)
        return os.read(self._terminal, 1).decode(errors="ignore") if ready else None
