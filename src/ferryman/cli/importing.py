"""`ferryman import`: jobs from a folder of files into any store."""

from __future__ import annotations

from ferryman.cli.carrying import Folder, Target, Watch, Where, chosen, folder_url, tell
from ferryman.cli.options import Json, opened, plain_typer
from ferryman.service.move import copy

app = plain_typer()


@app.command("import")
def import_jobs(folder: Folder, target: Target, where: Where = None, as_json: Json = False) -> None:
    """Copy jobs from a folder, such as an export, into a store; the folder is only read.

    Jobs that the store has already stay as they are there.
    """
    filter_, source = chosen(where), folder_url(folder)
    with opened(source) as here, opened(target, create=True) as there, Watch("imported") as watch:
        done = copy(here, there, filter_, tell=watch)
    tell("imported", source, target, done, as_json=as_json)
