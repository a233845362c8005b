"""`ferryman sync`: keep this machine's mirror of a shared store up to date."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ferryman.cli.options import Json, Store, Url, named, plain_typer, store_url
from ferryman.cli.output import put, say
from ferryman.service.config import InvalidSetting, duration
from ferryman.service.supervisor import Supervisor
from ferryman.telemetry.escape import json_safe, one_line
from ferryman.worker.signals import on_signals

if TYPE_CHECKING:
    from ferryman.events import Event

app = plain_typer()

LEAST = 1.0


@app.command()
def sync(
    where: Store = None,
    *,
    interval: Annotated[
        str, typer.Option(metavar="DURATION", help="One pass after this long, ± 10 %.")
    ] = "60s",
    once: Annotated[bool, typer.Option("--once", help="Make one pass and end.")] = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Bring the local mirror and the bucket up to date, pass after pass.

    Workers of s3:// do this by themselves once a minute; a supervisor does it where none runs, and
    for relaxed nodes. A pass that fails is reported, and the next one comes later. SIGTERM or
    Ctrl-C ends it with 0.
    """
    pause = duration("--interval", interval)
    if pause < LEAST:
        raise InvalidSetting("--interval", f"must be at least {LEAST:g}s")
    supervisor = Supervisor(store_url(named(where, url)), interval=pause)
    with closing(supervisor):
        if once:
            _tell(dict(supervisor.once()), as_json)
            return
        supervisor.events.subscribe("sync.passed", lambda event: _passed(event, as_json))
        supervisor.events.subscribe("sync.failed", _failed)
        with on_signals(supervisor.stop, supervisor.stop):
            supervisor.run()


def _passed(event: Event, as_json: bool) -> None:
    _tell({name: fact for name, fact in event.facts.items() if name != "node"}, as_json)


def _failed(event: Event) -> None:
    say(f"a pass failed, the next one comes later: {one_line(str(event['error']))}")


def _tell(passed: dict[str, Any], as_json: bool) -> None:
    if as_json:
        put(json_safe(json.dumps(passed, ensure_ascii=False)))
        return
    unreadable = passed.pop("unreadable", ())
    put(", ".join(f"{name.replace('_', ' ')} {number:,}" for name, number in passed.items()))
    for text in unreadable:
        say(f"cannot be used: {one_line(text)}")
