"""`ferryman schedules`: what is pushed at its time, and how to stop, restart or hurry it."""

from __future__ import annotations

from typing import Annotated

import typer

from ferryman.cli.options import Json, Url, opened, plain_typer
from ferryman.cli.output import put, put_json
from ferryman.cli.tables import schedule_table
from ferryman.service import presentation
from ferryman.service.control import Control
from ferryman.service.insights import Insights
from ferryman.telemetry.escape import one_line

app = plain_typer(group=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The schedule.")]


@app.callback()
def schedules() -> None:
    """List, pause, resume, run schedules."""


@app.command("list")
def list_schedules(url: Url = None, as_json: Json = False) -> None:
    """Show the schedules that workers have declared, and their next slots."""
    with opened(url) as backend:
        insights = Insights(backend)
        found, now = insights.schedules(), insights.now()
    if as_json:
        put_json({"schedules": [presentation.schedule(entry, now) for entry in found]})
    else:
        schedule_table(found, now)


@app.command()
def pause(name: Name, url: Url = None, as_json: Json = False) -> None:
    """Push no slots of a schedule until it is resumed."""
    with opened(url) as backend:
        Control(backend).pause_schedule(name)
    _tell_paused(name, True, as_json)


@app.command()
def resume(name: Name, url: Url = None, as_json: Json = False) -> None:
    """Go on with a schedule's next slot."""
    with opened(url) as backend:
        Control(backend).resume_schedule(name)
    _tell_paused(name, False, as_json)


@app.command()
def run(name: Name, url: Url = None, as_json: Json = False) -> None:
    """Push one job of a schedule now, besides its slots."""
    with opened(url) as backend:
        pushed = Control(backend).run_schedule(name)
    if as_json:
        put_json({"schedule": name, "id": pushed.id, "created": pushed.created})
    else:
        put(one_line(pushed.id))


def _tell_paused(name: str, paused: bool, as_json: bool) -> None:
    if as_json:
        put_json({"schedule": name, "paused": paused})
    else:
        put(f"{one_line(name)}: {'paused' if paused else 'resumed'}")
