"""One child of a worker, as the worker sees it: from its spawn to its burial."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from multiprocessing import spawn
from typing import TYPE_CHECKING, Any, Final

from ferryman.worker.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.worker.claim import Claim

LEAVE_WITHIN: Final = 5.0
"""Seconds that a child which is no longer needed may take to end by itself."""

_MAIN: Final = ("init_main_from_name", "init_main_from_path")
_WORLD: Final = ("sys_path", "sys_argv", "dir", "orig_dir")


class ChildProcess:
    """A Python process that serves one worker. Spawned, never forked: threads and locks stay here.

    Must be made in a thread that lives as long as the child shall.
    """

    def __init__(self, app: tuple[str, str] | None) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            code = f"from ferryman.worker.child import main; main({theirs.fileno()}, {os.getpid()})"
            flags: Sequence[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
            try:
                self._process = subprocess.Popen(
                    [sys.executable, *flags, "-c", code],
                    stdin=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    # Its own group: Ctrl-C is not for it, and a kill takes what it started along.
                    process_group=0,
                )
            except OSError:
                ours.close()
                raise
        self.pid = self._process.pid
        self.tasks: set[str] = set()
        self.doomed = False
        self._wire = Wire(ours)
        self._can_stop = False
        self._leave_by: float | None = None
        self.tell("boot", prepare=_preparation(with_main=app is None), app=app)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def tell(self, say: str, **content: Any) -> None:
        # That a child is gone is noticed where its words are awaited, and only there.
        with contextlib.suppress(OSError):
            self._wire.send(say, **content)

    def hear(self) -> dict[str, Any] | None:
        """What it says next; None when it has ended."""
        return self._wire.receive()

    def order(self, **job: Any) -> None:
        """Have it run a job; from then on it can be told to stop."""
        self.tell("run", **job)
        self._can_stop = True

    def pass_on(self, claim: Claim) -> None:
        """Tell a stop that was asked, once."""
        if claim.stop_reason is not None and self._can_stop:
            self._can_stop = False
            self.tell("stop", reason=claim.stop_reason)

    def notice_death(self) -> None:
        """What the handler forked may hold the line open after the child is dead: end it."""
        if self._dead():
            self._wire.hang_up()

    def kill(self) -> None:
        """End it and what it started, now."""
        self.doomed = True
        self._kill()

    def bury(self) -> int:
        """Wait for its end, which nothing delays any more; its exit code, negative for a signal."""
        # A process that is ending already keeps its exit code; what it started must go too.
        self._kill()
        code = self._process.wait()
        self._wire.close()
        return code

    def dismiss(self) -> None:
        """Let it end by itself: it is not needed any more."""
        self._leave_by = time.monotonic() + LEAVE_WITHIN
        self._wire.hang_up()

    def has_left(self, wait: float = 0.0) -> bool:
        """Whether a dismissed child has ended; one that takes too long is killed."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(wait)
            self._wire.close()
            return True
        if self._leave_by is not None and time.monotonic() > self._leave_by:
            self._kill()
        return False

    def _kill(self) -> None:
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    def _dead(self) -> bool:
        """Without reaping it: until then its number belongs to nobody else."""
        if sys.platform == "darwin":
            return self._process.poll() is not None
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        try:
            return os.waitid(os.P_PID, self.pid, flags) is not None
        except ChildProcessError:
            return True


def how_it_ended(code: int) -> str:
    """The end of a process in words, from its exit code."""
    if code >= 0:
        return f"its process ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = "an unknown signal"
    return f"its process was killed by {name} (signal {-code})"


def _preparation(*, with_main: bool) -> dict[str, Any]:
    """What makes the child's world like ours, as multiprocessing does it.

    `__main__` is left out where the app is known: then it is only the command line.
    """
    data = spawn.get_preparation_data("ferryman")
    return {key: data[key] for key in (*_WORLD, *(_MAIN if with_main else ())) if key in data}
