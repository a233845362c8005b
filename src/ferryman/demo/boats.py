"""Live progress of the demo: bars on a terminal, plain lines otherwise."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from ferryman.job import State

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ferryman.ferry import Ferry

REFRESH = 0.1
LINE_EVERY = 1.0


class Boats:
    """Shows how many jobs of each step are done, from the store's own counters."""

    def __init__(self, ferry: Ferry, steps: Sequence[str], total: int) -> None:
        self._ferry = ferry
        self._steps = steps
        self._total = total
        self._bars = _Bars(steps, total) if sys.stdout.isatty() else None
        self._last_line = ""
        self._next_line = 0.0

    def watch(self, enough: Callable[[int], bool], give_up: float) -> None:
        """Show progress until enough jobs are done; `TimeoutError` after `give_up` seconds."""
        until = time.monotonic() + give_up
        while not enough(sum(done := self._done())):
            self._show(done)
            if time.monotonic() > until:
                raise TimeoutError(f"the crossing did not end within {give_up:g} s: {done}")
            time.sleep(REFRESH)
        self._show(done, at_once=True)

    def say(self, line: str) -> None:
        if self._bars is not None:
            self._bars.say(line)
        else:
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()

    def close(self) -> None:
        if self._bars is not None:
            self._bars.close()

    def _done(self) -> list[int]:
        snapshot = self._ferry.backend.snapshot()
        return [snapshot.count(State.COMPLETED, step) for step in self._steps]

    def _show(self, done: Sequence[int], *, at_once: bool = False) -> None:
        if self._bars is not None:
            self._bars.show(done)
            return
        line = "  ".join(
            f"{step} {count}/{self._total}" for step, count in zip(self._steps, done, strict=True)
        )
        now = time.monotonic()
        if line != self._last_line and (at_once or now >= self._next_line):
            self._last_line, self._next_line = line, now + LINE_EVERY
            self.say(line)


class _Bars:
    def __init__(self, steps: Sequence[str], total: int) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self._progress = Progress(
            TextColumn("{task.description:>8}"), BarColumn(), MofNCompleteColumn()
        )
        self._bars = [self._progress.add_task(step, total=total) for step in steps]
        self._progress.start()

    def show(self, done: Sequence[int]) -> None:
        for bar, count in zip(self._bars, done, strict=True):
            self._progress.update(bar, completed=count)

    def say(self, line: str) -> None:
        self._progress.print(line)

    def close(self) -> None:
        self._progress.stop()
