"""Joining a server that another process of the session may have started already."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ferryman.testing.waiting import wait_until
from tests.servers.keeper import PATIENCE, STARTS, tail

if TYPE_CHECKING:
    from types import TracebackType

ROOT = Path(__file__).resolve().parent.parent.parent


class Server:
    """A running server; it lives at least as long as this object is open."""

    def __init__(self, name: str, folder: Path) -> None:
        """Join or start it; all who name the same folder share one."""
        self.name = name
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "door").open("w") as door:
            # One at a time looks and starts.
            fcntl.flock(door, fcntl.LOCK_EX)
            self._use = (folder / "users").open("a")
            fcntl.flock(self._use, fcntl.LOCK_SH)
            self.address = self._running() or self._start()

    @property
    def log(self) -> str:
        """The last lines of what it said."""
        return tail(self._folder / "log")

    def close(self) -> None:
        self._use.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _running(self) -> str | None:
        file = self._folder / "address"
        return file.read_text() if file.exists() else None

    def _start(self) -> str:
        failure = self._folder / "failure"
        failure.unlink(missing_ok=True)
        keeper = subprocess.Popen(
            [sys.executable, "-m", "tests.servers.keeper", self.name, str(self._folder)],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            # Its own session: a signal to ours must not end it before it has ended the server.
            start_new_session=True,
        )
        answer = wait_until(
            lambda: self._running() or failure.exists() or keeper.poll() is not None,
            timeout=PATIENCE * STARTS,
            what=f"{self.name} to start",
        )
        # It outlives us on purpose; the interpreter need not warn about that.
        keeper.returncode = 0
        if isinstance(answer, str):
            return answer
        self.close()
        raise RuntimeError(failure.read_text() if failure.exists() else f"{self.name}: no keeper")
