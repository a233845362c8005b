"""`ferryman migrate`: make a store or bring it up to date, or print the SQL that does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ferryman.cli.options import Json, Store, Url, named, opened, plain_typer, store_url
from ferryman.cli.output import put, put_json, say
from ferryman.errors import BackendError, Unsupported
from ferryman.queue.open import safe_url, schema_of, version_of
from ferryman.queue.provisioning import Provisioned
from ferryman.telemetry.escape import without_credentials

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend

app = plain_typer()


@app.command()
def migrate(
    where: Store = None,
    *,
    sql: Annotated[
        bool, typer.Option("--sql", help="Only print the SQL, for whoever may run it.")
    ] = False,
    since: Annotated[
        int | None,
        typer.Option(
            "--from",
            metavar="VERSION",
            min=0,
            help="With --sql: what is there already. [default: what the store says, else 0]",
            show_default=False,
        ),
    ] = None,
    queue: Annotated[
        list[str] | None,
        typer.Option(
            "--queue", "-q", help="On sqs://: make what this queue needs. May be given often."
        ),
    ] = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Make the store's schema or bring it up to date; workers may go on meanwhile.

    Not needed where the store's user may do that: first use does the same.
    """
    chosen = store_url(named(where, url))
    name = safe_url(chosen)
    if sql:
        put(schema_of(chosen, _present(chosen) if since is None else since))
        return
    with opened(chosen, create=True) as backend:
        kind = backend.capabilities.backend
        made = _provision(backend, queue) if queue else []
    if as_json:
        more = {"made": made} if queue else {}
        put_json({"store": name, "backend": kind, "up_to_date": True, **more})
    else:
        for each in made:
            put(each)
        put(f"{name} is up to date")


def _present(url: str) -> int:
    try:
        return version_of(url) or 0
    except BackendError as error:
        reason = without_credentials(str(error))
        say(f"{reason}: this makes a new store; for one that is there say --from VERSION")
        return 0


def _provision(backend: Backend, queues: list[str]) -> list[str]:
    if not isinstance(backend, Provisioned):
        raise Unsupported(f"{backend.capabilities.backend} makes a queue with its first job")
    return list(backend.provision(queues))
