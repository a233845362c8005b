"""The forked processes of a campaign, by name: started warm, killed, frozen and thawed."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
import traceback
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

_PR_SET_PDEATHSIG: Final = 1
_INTERRUPTS: Final = (signal.SIGINT, signal.SIGTERM)
_DRAINED: Final = (0, -signal.SIGTERM)
"""How one ends that was asked to: after a drain, or at once if it was only starting."""
LAST_WORDS: Final = 30
"""Lines of what a process said before it ended by itself."""


class Crew:
    """Forks from this process, which has imported everything, runs no thread and opened no store.

    So a new process is at work within milliseconds and inherits nothing that it should not. It
    signals nobody but its own children, by pid. What it says is in a file of its name in `errors`.
    """

    def __init__(
        self, bodies: Mapping[str, Callable[[], int]], may_end: Collection[str], errors: Path
    ) -> None:
        self._bodies = bodies
        self._may_end = set(may_end)
        self._errors = errors
        errors.mkdir()
        self._pids: dict[str, int] = {}
        self._leaving: set[str] = set()
        self._closing = False
        self.retired: set[str] = set()
        """Whose work was done: they exited with code 0."""
        self.troubles: list[str] = []
        """Ends that nobody asked for."""

    def start(self, name: str) -> None:
        """Fork the next life of a member that is dead and has work left."""
        if name in self._pids or name in self.retired:
            return
        # An interrupt that came amid the fork hooks would be swallowed by them.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPTS)
        pid = os.fork()
        if pid == 0:
            _live(self._bodies[name], self._errors / name)
        self._pids[name] = pid
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def kill(self, name: str) -> bool:
        """SIGKILL; whether that is what ended it."""
        pid = self._pids.get(name)
        if pid is None:
            return False
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
            self._leaving.discard(name)
            del self._pids[name]
            return True
        self._ended(name, status)
        return False

    def freeze(self, name: str) -> int | None:
        """SIGSTOP; the pid to thaw later."""
        pid = self._pids.get(name)
        if pid is not None:
            os.kill(pid, signal.SIGSTOP)
        return pid

    def thaw(self, name: str, pid: int) -> None:
        """SIGCONT, if it is still the same life."""
        if self._pids.get(name) == pid:
            os.kill(pid, signal.SIGCONT)

    def ask(self, name: str) -> bool:
        """SIGTERM; whether there was someone to ask for a drain."""
        pid = self._pids.get(name)
        if pid is not None:
            self._leaving.add(name)
            os.kill(pid, signal.SIGTERM)
        return pid is not None

    def look(self) -> None:
        """Notice who ended; whoever has work left is started again."""
        for name, pid in list(self._pids.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                self._ended(name, status)
                if not self._closing:
                    self.start(name)

    def drain(self, names: Collection[str], seconds: float) -> None:
        """SIGTERM, and wait until they have ended; later than that is trouble."""
        self._closing = True
        for name in names:
            self.ask(name)
        self.wait(names, seconds)
        for name in names:
            if name in self._pids:
                self.troubles.append(f"{name} did not drain within {seconds:g} s of SIGTERM")

    def wait(self, names: Collection[str], seconds: float) -> bool:
        """Whether they all ended by themselves within that time."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.look()
            if not self._pids.keys() & set(names):
                return True
            time.sleep(0.01)
        return False

    def close(self) -> None:
        """Kill whoever is left."""
        for name in list(self._pids):
            self.kill(name)

    def _ended(self, name: str, status: int) -> None:
        del self._pids[name]
        code = os.waitstatus_to_exitcode(status)
        if code == 0 and name in self._may_end:
            self.retired.add(name)
        elif name not in self._leaving or code not in _DRAINED:
            self.troubles.append(
                f"{name} ended by itself with code {code}: {self._last_words(name)}"
            )
        self._leaving.discard(name)

    def _last_words(self, name: str) -> str:
        said = self._errors / name
        lines = said.read_text(errors="replace").splitlines() if said.exists() else []
        return "\n    ".join(lines[-LAST_WORDS:]) or "it said nothing"


def _live(body: Callable[[], int], errors: Path) -> None:
    """The forked side; never returns."""
    code = 70
    try:
        _die_with_the_parent()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        # Ctrl-C reaches the whole group, and is for the parent to act on.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPTS)
        said = os.open(errors, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.dup2(said, 2)
        code = body()
    except BaseException:
        traceback.print_exc(file=sys.stderr)
        sys.stderr.flush()
    finally:
        os._exit(code)


def _die_with_the_parent() -> None:
    """Whatever ends the parent, even SIGKILL, leaves no process behind, not even a frozen one."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
