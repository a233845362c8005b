"""`work --processes N` and `--reload`: worker processes, and the one that looks after them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Final

from ferryman.cli.failures import ExitCode
from ferryman.cli.output import say
from ferryman.worker.parent import end_with_parent
from ferryman.worker.patience import Patience
from ferryman.worker.signals import on_signals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.cli.sources import Sources

TICK: Final = 0.1
LOOK_EVERY: Final = 0.5
"""Seconds between two looks at the sources."""
QUICK: Final = 5.0
"""A worker that ends within so many seconds has not really started."""
GIVE_UP_AFTER: Final = 5
SUPERVISOR: Final = "_FERRYMAN_SUPERVISOR"

# What would be no better the next time: bad options, or a store that refuses for good.
_LASTING: Final = (ExitCode.USAGE, ExitCode.BACKEND)
# A worker that is only just importing dies of SIGTERM, and holds nothing yet.
_CLEAN: Final = (0, -signal.SIGTERM)


class Fleet:
    """Keeps `size` workers running; `words` are the command line of one, from `work` on.

    One that ends is started again, after growing pauses; if one keeps ending within seconds, all
    are drained and the exit code is 1. With `sources`, every change of them drains and restarts the
    workers, and one that fails waits for the next change. `of_first` are words for the first alone.
    """

    def __init__(
        self,
        words: Sequence[str],
        size: int,
        sources: Sources | None = None,
        of_first: Sequence[str] = (),
    ) -> None:
        first = _Berth([*words, *of_first])
        self._berths = [first, *(_Berth(words) for _ in range(size - 1))]
        self._sources = sources
        self._signals = 0
        self._code = 0
        self._next_look = 0.0

    def run(self) -> int:
        """Until a signal drains the workers (0), or they cannot be kept running."""
        with on_signals(self._signal, self._signal):
            while not self._over():
                for berth in self._berths:
                    self._tend(berth)
                self._look_at_sources()
                # Not an Event: a handler that sets one can meet its lock held by this very thread.
                time.sleep(TICK)
        return self._code

    def _signal(self) -> None:
        self._signals += 1

    def _over(self) -> bool:
        return self._signals > 0 and not any(berth.occupied for berth in self._berths)

    def _tend(self, berth: _Berth) -> None:
        code = berth.ended()
        if code is not None:
            self._ended(berth, code)
        if self._signals == 0:
            berth.start_if_due()
        berth.tell(self._signals)

    def _ended(self, berth: _Berth, code: int) -> None:
        if self._signals > 0:
            if code not in _CLEAN:
                self._code = self._code or ExitCode.FAILURE
        elif self._sources is not None:
            if berth.restarting:
                berth.start_again(0.0)
            else:
                say(f"the worker {_how(code)}; waiting for a change of the app")
        elif code in _LASTING:
            self._give_up(code)
        elif berth.quick_ends >= GIVE_UP_AFTER:
            say(f"a worker {_how(code)} within {QUICK:g} s, {berth.quick_ends} times in a row")
            self._give_up(ExitCode.FAILURE)
        else:
            pause = berth.pause()
            say(f"worker {berth.pid} {_how(code)}; another one starts in {pause:.1f} s")
            berth.start_again(pause)

    def _give_up(self, code: int) -> None:
        self._code = code
        self._signals = 1

    def _look_at_sources(self) -> None:
        if self._sources is None or self._signals > 0 or time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + LOOK_EVERY
        changed = self._sources.changed()
        if changed is not None:
            say(f"{changed} changed: the worker restarts")
            for berth in self._berths:
                berth.restart()


class _Berth:
    """A place for one worker, and the worker that is there now."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._process: subprocess.Popen[bytes] | None = None
        self._patience = Patience()
        self._started = 0.0
        self._start_at: float | None = 0.0
        self._told = 0
        self.pid = 0
        self.quick_ends = 0
        self.restarting = False

    @property
    def occupied(self) -> bool:
        return self._process is not None

    def start_if_due(self) -> None:
        if self._start_at is None or time.monotonic() < self._start_at:
            return
        self._start_at, self._started, self._told = None, time.monotonic(), 0
        self.restarting = False
        self._process = subprocess.Popen(
            [sys.executable, "-m", "ferryman.cli.main", *self._words],
            stdin=subprocess.DEVNULL,
            env={**os.environ, SUPERVISOR: str(os.getpid())},
            # Ctrl-C is for the whole terminal; each worker shall hear of it once, from here.
            process_group=0,
        )
        self.pid = self._process.pid

    def ended(self) -> int | None:
        """The exit code of the worker that was here until now."""
        code = None if self._process is None else self._process.poll()
        if code is not None:
            self._process = None
            quick = time.monotonic() - self._started < QUICK
            self.quick_ends = self.quick_ends + 1 if quick else 0
        return code

    def tell(self, signals: int) -> None:
        """Make it have got that many signals: the first drains, the next one stops now."""
        while self._process is not None and self._told < signals:
            self._told += 1
            self._process.send_signal(signal.SIGTERM)

    def pause(self) -> float:
        if self.quick_ends == 0:
            self._patience.succeeded()
        return self._patience.failed()

    def start_again(self, pause: float) -> None:
        self._start_at = time.monotonic() + pause

    def restart(self) -> None:
        self.restarting = True
        if self._process is None:
            self.start_again(0.0)
        self.tell(1)


def end_with_supervisor() -> None:
    """Drain when the process that looks after this worker is gone, if there is one."""
    supervisor = os.environ.pop(SUPERVISOR, None)
    if supervisor is not None:
        end_with_parent(int(supervisor), signal.SIGTERM)


def _how(code: int) -> str:
    return f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
