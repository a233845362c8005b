"""`ferryman keys`: API keys for those who use `ferryman serve`."""

from __future__ import annotations

from typing import Annotated

import typer

from ferryman.cli.options import Json, Url, opened, plain_typer
from ferryman.cli.output import put, put_json, say
from ferryman.cli.tables import key_table
from ferryman.ids import new_id
from ferryman.service import presentation
from ferryman.service.api_keys import ApiKeys
from ferryman.service.audit import Audit
from ferryman.service.config import duration
from ferryman.service.roles import Role

app = plain_typer(group=True)

WHO = "command line"
"""In the audit log: whoever may open the store may make keys for it."""


@app.callback()
def keys() -> None:
    """Create, list, revoke API keys."""


@app.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose key it is.")],
    *,
    role: Annotated[
        Role, typer.Option(help="What it may do; each role may do all of the one before.")
    ] = Role.VIEWER,
    queue: Annotated[
        list[str] | None,
        typer.Option(
            "--queue", "-q", metavar="NAME", help="Only for this queue; may be given often."
        ),
    ] = None,
    expires: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="Worthless after this long, such as 90d."),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(metavar="QUOTA", help="At most so many requests to each server: 10/s."),
    ] = None,
    pushes: Annotated[
        str | None,
        typer.Option(metavar="QUOTA", help="At most so many jobs pushed: 1000/d, 50/m."),
    ] = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Make a key and print it. It cannot be shown again."""
    with opened(url, create=True) as backend:
        key, secret = ApiKeys(backend).create(
            name,
            role,
            queues=queue or None,
            expires=None if expires is None else duration("--expires", expires),
            rate=rate,
            pushes=pushes,
        )
        left = ApiKeys(backend).pushes_left(key)
        Audit(backend).add(new_id(), WHO, "keys.create", target=key.id)
    if as_json:
        put_json({**presentation.api_key(key, left), "secret": secret})
        return
    put(secret)
    say(f"key {key.id} is {key.role}; send it as Authorization: Bearer …; it is shown only now")


@app.command("list")
def list_keys(url: Url = None, as_json: Json = False) -> None:
    """Show the keys that can be used, without their secrets."""
    with opened(url) as backend:
        known, now = ApiKeys(backend), backend.clock.now()
        found = [(key, known.pushes_left(key)) for key in known.list()]
    if as_json:
        put_json({"keys": [presentation.api_key(key, left) for key, left in found]})
    else:
        key_table(found, now)


@app.command()
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="As `keys list` shows it.")],
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Make a key worthless, within a second on every server."""
    with opened(url) as backend:
        key = ApiKeys(backend).revoke(key_id)
        Audit(backend).add(new_id(), WHO, "keys.revoke", target=key.id)
    if as_json:
        put_json(presentation.api_key(key))
    else:
        put(f"{key.id}: revoked")
