"""How far a campaign is: bars on a terminal, a plain line every few seconds otherwise."""

from __future__ import annotations

import sys
import time
from typing import Final, Protocol

_LINE_EVERY: Final = 10.0


class Progress(Protocol):
    """Told by the campaign as often as it likes."""

    def struck(self, kills: int, freezes: int, seconds: float) -> None: ...

    def healing(self, unfinished: int) -> None: ...

    def close(self) -> None: ...


def progress(kills: int) -> Progress:
    """The kind that standard output can show."""
    return Bars(kills) if sys.stdout.isatty() else Lines(kills)


class Lines:
    """For files and pipes."""

    def __init__(self, kills: int) -> None:
        self._kills = kills
        self._next = 0.0

    def struck(self, kills: int, freezes: int, seconds: float) -> None:
        self._say(f"{seconds:6.1f} s  kills {kills}/{self._kills}  freezes {freezes}")

    def healing(self, unfinished: int) -> None:
        self._say(f"healing: {unfinished} jobs unfinished")

    def close(self) -> None:
        """Nothing to take down."""

    def _say(self, line: str) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _LINE_EVERY
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()


class Bars:
    """For people. Redrawn by hand: a refreshing thread would not survive the forks."""

    def __init__(self, kills: int) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        self._bars = RichProgress(
            TextColumn("{task.description:>10}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            auto_refresh=False,
        )
        self._struck = self._bars.add_task("kills", total=kills)
        self._healed = self._bars.add_task("healing", total=None, visible=False)
        self._most = 0
        self._bars.start()

    def struck(self, kills: int, freezes: int, seconds: float) -> None:
        self._bars.update(self._struck, completed=kills)
        self._bars.refresh()

    def healing(self, unfinished: int) -> None:
        self._most = max(self._most, unfinished)
        self._bars.update(
            self._healed, total=self._most, completed=self._most - unfinished, visible=True
        )
        self._bars.refresh()

    def close(self) -> None:
        self._bars.stop()
