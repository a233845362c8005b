"""How far a long command is: a bar at a terminal, now and then a line elsewhere."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from ferryman.cli.output import lively, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EVERY: Final = 10_000
"""Without a terminal, a line each time so many more are done."""


@contextmanager
def progress(doing: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Gives a function to call with how many more are done; all goes to standard error."""
    if not lively(sys.stderr):
        yield _Lines(doing).add
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    # rich reads NO_COLOR itself.
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=total)
        yield lambda more: bar.advance(task, more)


class _Lines:
    def __init__(self, doing: str) -> None:
        self._doing = doing
        self._done = 0

    def add(self, more: int) -> None:
        before, self._done = self._done, self._done + more
        if before // EVERY != self._done // EVERY:
            say(f"{self._doing}: {self._done:,}")
