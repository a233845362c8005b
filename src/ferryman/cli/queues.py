"""`ferryman queues`: look at queues, stop and restart their claims, empty them."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated

import typer

from ferryman.cli.confirm import confirm
from ferryman.cli.options import Json, Url, Yes, opened, plain_typer
from ferryman.cli.output import counted, put, put_json, say
from ferryman.cli.tables import queue_table
from ferryman.service import presentation
from ferryman.service.control import Control
from ferryman.service.insights import Insights
from ferryman.telemetry.escape import one_line

app = plain_typer(group=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The queue.")]


@app.callback()
def queues() -> None:
    """List, pause, resume, purge queues."""


@app.command("list")
def list_queues(url: Url = None, as_json: Json = False) -> None:
    """Count the jobs of each queue by state."""
    with opened(url) as backend:
        found = Insights(backend).queues()
    if as_json:
        put_json({"queues": [presentation.queue(counts) for counts in found]})
    else:
        queue_table(found)


@app.command()
def pause(name: Name, url: Url = None, as_json: Json = False) -> None:
    """Stop claims from a queue; jobs that run go on, pushes are accepted."""
    with opened(url) as backend:
        before = {counts.queue for counts in Insights(backend).queues()}
        Control(backend).pause_queue(name)
    if name not in before:
        close = get_close_matches(name, before, 1)
        say(f"queue {name!r} has no jobs yet" + (f": did you mean {close[0]!r}?" if close else ""))
    _tell_paused(name, True, as_json)


@app.command()
def resume(name: Name, url: Url = None, as_json: Json = False) -> None:
    """Allow claims from a queue again."""
    with opened(url) as backend:
        Control(backend).resume_queue(name)
    _tell_paused(name, False, as_json)


@app.command()
def purge(name: Name, yes: Yes = False, url: Url = None, as_json: Json = False) -> None:
    """Delete a queue's pending and paused jobs."""
    with opened(url) as backend:
        control = Control(backend)
        count = control.purgeable(name)
        what = counted(count, "pending or paused job")
        confirm(f"delete {what} of queue {name!r}", yes=yes)
        purged = control.purge(name)
    if as_json:
        put_json({"queue": name, "purged": purged})
    else:
        put(f"{one_line(name)}: {counted(purged)} deleted")


def _tell_paused(name: str, paused: bool, as_json: bool) -> None:
    if as_json:
        put_json({"queue": name, "paused": paused})
    else:
        put(f"{one_line(name)}: {'paused' if paused else 'resumed'}")
