"""A command at a real terminal."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import termios
from typing import Any

from ferryman.testing import wait_until


class Terminal:
    """A real pseudo-terminal around one command."""

    def __init__(self, *words: str, **environment: str) -> None:
        self._main, inner = pty.openpty()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "ferryman.cli.main", *words],
            stdin=inner,
            stdout=inner,
            stderr=inner,
            env={**os.environ, "TERM": "xterm", **environment},
            start_new_session=True,
        )
        os.close(inner)
        self.text = ""

    def read(self) -> None:
        ready, _, _ = select.select([self._main], [], [], 0.05)
        if ready:
            try:
                self.text += os.read(self._main, 65_536).decode()
            except OSError:  # Linux says EIO when the other side is closed
                self._process.wait(20)

    def shows(self, text: str) -> None:
        def seen() -> bool:
            self.read()
            return text in self.text

        wait_until(seen, timeout=30, what=f"{text!r} on the terminal")

    def interrupt(self) -> None:
        self.signal(signal.SIGINT)

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def settings(self) -> list[Any]:
        """How the terminal is set now: echo, line by line or key by key."""
        return termios.tcgetattr(self._main)

    def types(self, text: str) -> None:
        os.write(self._main, text.encode())

    def ends(self) -> int:
        def ended() -> bool:
            self.read()
            return self._process.poll() is not None

        wait_until(ended, timeout=30, what="the end of the command")
        self.read()
        return self._process.wait()

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._main)
