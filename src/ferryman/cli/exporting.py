"""`ferryman export`: jobs of any store as a folder of readable files."""

from __future__ import annotations

from ferryman.cli.carrying import Folder, Source, Watch, Where, chosen, folder_url, tell
from ferryman.cli.options import Json, opened, plain_typer
from ferryman.service.move import copy

app = plain_typer()


@app.command("export")
def export_jobs(source: Source, folder: Folder, where: Where = None, as_json: Json = False) -> None:
    """Copy jobs into a folder of readable files; the store is only read.

    Into the same folder again, it adds what is new and renews what went on since.
    """
    filter_, target = chosen(where), folder_url(folder)
    with opened(source) as here, opened(target, create=True) as there, Watch("exported") as watch:
        done = copy(here, there, filter_, refresh=True, tell=watch)
    tell("exported", source, target, done, as_json=as_json)
