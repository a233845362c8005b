"""`ferryman workers`: who works on a store."""

from __future__ import annotations

from ferryman.cli.options import Json, Url, opened, plain_typer
from ferryman.cli.output import put, put_json
from ferryman.cli.tables import worker_lines
from ferryman.service import presentation
from ferryman.service.insights import Insights

app = plain_typer()


@app.command()
def workers(url: Url = None, as_json: Json = False) -> None:
    """Show the workers of a store, with those that fell silent."""
    with opened(url) as backend:
        insights = Insights(backend)
        rows, now = insights.workers(), insights.now()
    if as_json:
        put_json({"workers": [presentation.worker(row) for row in rows]})
        return
    for line in worker_lines(rows, now) if rows else ["no workers"]:
        put(line)
