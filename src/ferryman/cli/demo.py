"""`ferryman demo`: retries, a kill, and nothing lost."""

from __future__ import annotations

from typing import Annotated

import typer

from ferryman.cli.options import plain_typer
from ferryman.cli.output import put

app = plain_typer()


@app.command()
def demo(
    crates: Annotated[
        int, typer.Option(min=10, max=1_000, help="How many crates cross the river.")
    ] = 60,
) -> None:
    """Run a three-step job on SQLite, kill one worker with SIGKILL, and count what arrived."""
    from ferryman.demo.crossing import run
    from ferryman.demo.table import table

    report = run(crates, put)
    put()
    put(table(report))
    raise typer.Exit(0 if report.lost == 0 else 1)
