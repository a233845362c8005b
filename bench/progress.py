"""How far a contest is: a bar on a terminal, plain lines otherwise. Both on stderr."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress


class Lines:
    """One line for each workload when it is through."""

    def __init__(self) -> None:
        self._name = ""
        self._runs = 0
        self._started = 0.0

    def begin(self, name: str) -> None:
        self._name = name
        self._runs = 0
        self._started = time.perf_counter()

    def ran(self) -> None:
        self._runs += 1

    def done(self) -> None:
        seconds = time.perf_counter() - self._started
        sys.stderr.write(f"{self._name}, {self._runs} runs in {seconds:.1f} s\n")
        sys.stderr.flush()

    def __enter__(self) -> Lines:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class Bar(Lines):
    """A bar over all runs, with what is being measured now."""

    def __init__(self, total: int) -> None:
        super().__init__()
        self._progress = _progress()
        self._task = self._progress.add_task("", total=total)

    def begin(self, name: str) -> None:
        self._progress.update(self._task, description=name)

    def ran(self) -> None:
        self._progress.advance(self._task)

    def done(self) -> None: ...

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()


def progress_on(total: int) -> Lines:
    """What fits the terminal, or its absence."""
    return Bar(total) if sys.stderr.isatty() else Lines()


def _progress() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description:<28}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
