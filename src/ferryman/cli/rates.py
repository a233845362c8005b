"""`ferryman rates`: what is spent of rates, and how many run where only so many may."""

from __future__ import annotations

from ferryman.cli.options import Json, Url, opened, plain_typer
from ferryman.cli.output import put, put_json, put_table
from ferryman.cli.tables import span
from ferryman.service import presentation
from ferryman.service.insights import Insights

app = plain_typer()


@app.command()
def rates(url: Url = None, as_json: Json = False) -> None:
    """Show what is left of each rate, and the leases under each concurrency limit."""
    with opened(url) as backend:
        insights = Insights(backend)
        found, permits, now = insights.rates(), insights.permits(), insights.now()
    if as_json:
        shown = [presentation.rate(row) for row in found]
        put_json({"rates": shown, "concurrency": [presentation.permit(row) for row in permits]})
        return
    put_table(
        ("RATE", "QUOTA", "SPENT", "LEFT", "FREE IN", "ZONE"),
        [
            (row.name, row.quota, row.spent, row.left, span(row.free_at - now), row.zone)
            for row in found
        ],
    )
    if permits:
        put()
        put_table(
            ("CONCURRENCY", "LIMIT", "LIVE", "WORKERS"),
            [(row.name, row.limit, sum(row.holders.values()), len(row.holders)) for row in permits],
        )
