"""`ferryman breakers`: see which dependencies fail, and try them again at once."""

from __future__ import annotations

from typing import Annotated

import typer

from ferryman.cli.options import Json, Url, opened, plain_typer
from ferryman.cli.output import put, put_json, put_table
from ferryman.cli.tables import span
from ferryman.service import presentation
from ferryman.service.control import Control
from ferryman.service.insights import Insights
from ferryman.telemetry.escape import one_line

app = plain_typer(group=True)


@app.callback()
def breakers() -> None:
    """List and reset breakers."""


@app.command("list")
def list_breakers(url: Url = None, as_json: Json = False) -> None:
    """Show the breakers that have seen a failure."""
    with opened(url) as backend:
        insights = Insights(backend)
        rows, now = insights.breakers(), insights.now()
    if as_json:
        put_json({"breakers": [presentation.breaker(row) for row in rows]})
        return
    put_table(
        ("BREAKER", "STATE", "FAILURES", "PROBES", "TRIES IN", "PROBLEM"),
        [
            (
                row.name,
                row.phase,
                row.failures,
                row.probes,
                "" if row.until is None else span(row.until - now),
                row.problem or "",
            )
            for row in rows
        ],
    )


@app.command()
def reset(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The breaker.")],
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Close a breaker and forget its failures; workers notice within their poll time."""
    with opened(url) as backend:
        before = Control(backend).reset_breaker(name)
    if as_json:
        put_json({"breaker": name, "was": str(before.phase)})
    else:
        put(f"{one_line(name)}: closed, was {before.phase}")
