"""`ferryman prune`: delete finished history by age or count."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from ferryman.cli.confirm import confirm
from ferryman.cli.options import Json, Url, Yes, opened, plain_typer
from ferryman.cli.output import counted, put, put_json
from ferryman.cli.progress import progress
from ferryman.job import State
from ferryman.service.config import InvalidSetting, duration
from ferryman.service.control import MIN_HISTORY, Control

app = plain_typer()


class Ended(StrEnum):
    """The states that history is made of."""

    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


@app.command()
def prune(
    *,
    older_than: Annotated[
        str,
        typer.Option(metavar="DURATION", help="What ended longer ago, such as 7d; at least 1d."),
    ],
    state: Annotated[
        list[Ended] | None,
        typer.Option(help="Only jobs that ended so; repeatable. [default: all three]"),
    ] = None,
    keep: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Spare so many of the newest.", show_default=False),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only count what would be deleted.")
    ] = False,
    yes: Yes = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Delete finished jobs that ended long ago.

    To interrupt it is harmless: what is deleted so far stays deleted, the rest is whole.
    """
    age = duration("--older-than", older_than)
    if age < MIN_HISTORY:
        raise InvalidSetting(
            "--older-than", "must be at least 1d: until then a repeated push must find its job"
        )
    chosen: dict[str, Any] = {
        "older_than": age,
        "states": [State(one) for one in state or ()],
        "keep": keep,
    }
    with opened(url) as backend:
        control = Control(backend)
        total = None if yes and not dry_run else control.prunable(**chosen)
        if dry_run:
            _tell("prunable", total or 0, "would be deleted", as_json)
            return
        what = counted(total or 0, "finished job")
        confirm(f"delete {what} that ended over {older_than} ago", yes=yes or total == 0)
        pruned = 0
        with progress("deleted", total) as advance:
            for batch in control.pruning(**chosen):
                pruned += batch
                advance(batch)
    _tell("pruned", pruned, "deleted", as_json)


def _tell(key: str, number: int, what: str, as_json: bool) -> None:
    if as_json:
        put_json({key: number})
    else:
        put(f"{counted(number)} {what}")
