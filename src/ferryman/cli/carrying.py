"""What `move`, `export` and `import` share: their filter, their progress, and how they end."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Self

import typer

from ferryman.cli.failures import CommandFailed, ExitCode
from ferryman.cli.output import counted, put, put_json, say
from ferryman.cli.progress import progress
from ferryman.errors import InvalidFilter
from ferryman.filter import Filter
from ferryman.queue.open import safe_url
from ferryman.service import presentation
from ferryman.telemetry.escape import one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman.service.move import Carried, Step

SHOWN: Final = 10

Source = Annotated[str, typer.Argument(metavar="SRC", help="The store they are in, as a URL.")]
Target = Annotated[str, typer.Argument(metavar="DST", help="The store they go to, as a URL.")]
Folder = Annotated[str, typer.Argument(metavar="FOLDER", help="A folder, the store of file://.")]
Where = Annotated[
    str | None,
    typer.Option(metavar="FILTER", help="Only jobs that match. [default: all]", show_default=False),
]


def chosen(where: str | None) -> Filter:
    """The filter; without one, every job."""
    if where is not None and not where.strip():
        # An unset shell variable must not become "every job".
        raise InvalidFilter("--where: an empty filter would match every job: leave it out for that")
    return Filter.parse(where or "")


def folder_url(folder: str) -> str:
    """The address of a folder as a store."""
    return folder if folder.startswith("file:") else Path(folder).absolute().as_uri()


class Watch:
    """Shows how far it is; a bar is drawn once the first jobs are over."""

    def __init__(self, done: str) -> None:
        self._done = done
        self._total = 0
        self._advance: Callable[[int], None] | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._stack.close()
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            say("interrupted: the same command goes on from here")

    def __call__(self, step: Step) -> None:
        if step.kind == "found":
            self._total = step.jobs
        elif step.kind == "waiting":
            say(f"waiting for {counted(step.jobs)} to end")
        else:
            if self._advance is None:
                self._advance = self._stack.enter_context(progress(self._done, self._total))
            self._advance(step.jobs)


def tell(done: str, source: str, target: str, carried: Carried, *, as_json: bool) -> None:
    """The end, in words or as JSON; exit code 4 if jobs were left behind."""
    if as_json:
        ends = {"source": safe_url(source), "target": safe_url(target)}
        put_json(ends | presentation.carried(done, carried))
    else:
        there = f", {carried.existing:,} of them known there" if carried.existing else ""
        put(f"{counted(carried.carried)} {done} to {one_line(safe_url(target))}{there}")
    if not carried.left:
        return
    if not as_json:
        for left in carried.left[:SHOWN]:
            say(f"  {left.id} ({left.queue}): {left.why}")
        if len(carried.left) > SHOWN:
            say(f"  and {len(carried.left) - SHOWN:,} more: --json names them all")
    raise CommandFailed(
        f"{counted(len(carried.left))} stayed at {safe_url(source)}",
        "see to the reasons, then run it again",
        ExitCode.REFUSED,
    )
