"""`ferryman migrate`: make a store or bring it up to date, or print the SQL that does."""

from __future__ import annotations

from typing import Annotated

import typer

from ferryman.cli.options import Json, Url, opened, plain_typer, store_url
from ferryman.cli.output import put, put_json
from ferryman.queue.open import safe_url, schema_of

app = plain_typer()


@app.command()
def migrate(
    *,
    sql: Annotated[
        bool, typer.Option("--sql", help="Only print the SQL, for whoever may run it.")
    ] = False,
    since: Annotated[
        int,
        typer.Option("--from", metavar="VERSION", min=0, help="With --sql: what is there already."),
    ] = 0,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Make the store's schema or bring it up to date; workers may go on meanwhile.

    Not needed where the store's user may do that: first use does the same.
    """
    name = safe_url(store_url(url))
    if sql:
        put(schema_of(store_url(url), since))
        return
    with opened(url, create=True) as backend:
        kind = backend.capabilities.backend
    if as_json:
        put_json({"store": name, "backend": kind, "up_to_date": True})
    else:
        put(f"{name} is up to date")
