"""`ferryman config`: which settings hold here, and who set them."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ferryman.cli.options import Json, Url, plain_typer
from ferryman.cli.output import put_json, put_table, say
from ferryman.service import presentation
from ferryman.service.settings import settings, strangers

if TYPE_CHECKING:
    from collections.abc import Mapping

app = plain_typer(group=True)


@app.callback()
def config() -> None:
    """Show settings."""


@app.command()
def show(
    origin: Annotated[
        bool, typer.Option("--origin", help="Also who set it: a flag, a variable, or default.")
    ] = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Show every setting as a command started here would take it; secrets are hidden."""
    found = [presentation.setting(one) for one in settings(os.environ, url=url)]
    for name, meant in strangers(os.environ).items():
        say(f"{name} is no setting" + (f": did you mean {meant}?" if meant else ""))
    if as_json:
        put_json({"settings": found})
    elif origin:
        rows = [(one["name"], _text(one), one["origin"], one["variable"]) for one in found]
        put_table(("SETTING", "VALUE", "ORIGIN", "VARIABLE"), rows)
    else:
        put_table(("SETTING", "VALUE"), [(one["name"], _text(one)) for one in found])


def _text(setting: Mapping[str, Any]) -> str:
    match setting["value"]:
        case None:
            return "the app's"
        case float() as seconds:
            return f"{seconds:g}s"
        case dict() as queues:
            return ",".join(
                queue if slots is None else f"{queue}:{slots}" for queue, slots in queues.items()
            )
        case str() as text:
            return text
        case other:
            return json.dumps(other)
