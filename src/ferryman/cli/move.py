"""`ferryman move`: jobs from one store to another."""

from __future__ import annotations

from typing import Annotated

import typer

from ferryman.cli.carrying import Source, Target, Watch, Where, chosen, tell
from ferryman.cli.options import Json, opened, plain_typer
from ferryman.service.config import duration
from ferryman.service.move import move as move_jobs

app = plain_typer()


@app.command()
def move(
    source: Source,
    target: Target,
    where: Where = None,
    wait: Annotated[
        str, typer.Option(metavar="DURATION", help="How long running jobs may take to end.")
    ] = "30s",
    as_json: Json = False,
) -> None:
    """Move jobs to another store, with their attempts, errors, logs and results.

    Their queues are paused at the source meanwhile. Killed at any point and run again, it goes on:
    nothing is lost and nothing is doubled.
    """
    filter_, patience = chosen(where), duration("--wait", wait)
    with opened(source) as here, opened(target, create=True) as there, Watch("moved") as watch:
        done = move_jobs(here, there, filter_, wait=patience, tell=watch)
    tell("moved", source, target, done, as_json=as_json)
