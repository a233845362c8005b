"""`ferryman report`: a store at one moment as a page, to keep or to send."""

from __future__ import annotations

from ferryman.cli.options import Store, Url, named, opened, plain_typer, store_url
from ferryman.cli.output import put
from ferryman.queue.open import safe_url
from ferryman.service.report import report as written
from ferryman.telemetry.escape import without_credentials

app = plain_typer()


@app.command()
def report(where: Store = None, *, url: Url = None) -> None:
    """Print the state of the store as one HTML page, without payloads: report > now.html."""
    chosen = store_url(named(where, url))
    shown_url = without_credentials(safe_url(chosen))
    with opened(chosen) as backend:
        put(written(backend, shown_url))
