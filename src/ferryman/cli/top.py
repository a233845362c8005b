"""`ferryman top`: a store as it changes."""

from __future__ import annotations

import itertools
import json
import signal
import sys
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from ferryman.cli.failures import CommandFailed, ExitCode
from ferryman.cli.frame import facts, frame
from ferryman.cli.options import Store, Url, named, plain_typer, store_url
from ferryman.cli.output import lively, put
from ferryman.queue.open import safe_url
from ferryman.service import presentation
from ferryman.service.config import InvalidSetting, duration
from ferryman.service.store import open_store
from ferryman.service.ticker import Ticker
from ferryman.telemetry.escape import json_safe, without_credentials
from ferryman.telemetry.lines import text_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.service.ticker import Tick

app = plain_typer()

LEAST = 0.1


@app.command()
def top(
    where: Store = None,
    *,
    every: Annotated[
        str, typer.Option(metavar="DURATION", help="Look again after this long.")
    ] = "1s",
    once: Annotated[bool, typer.Option("--once", help="Print one picture and end.")] = False,
    count: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="End after so many looks.", show_default=False),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a line for each look.")
    ] = False,
    url: Url = None,
) -> None:
    """Watch queues, workers and failures; q or Ctrl-C ends it.

    At a terminal it draws over itself; elsewhere each look is one line.
    """
    pause = duration("--every", every)
    if pause < LEAST:
        raise InvalidSetting("--every", f"must be at least {LEAST:g}s")
    chosen = store_url(named(where, url))
    title = without_credentials(safe_url(chosen))
    ticker = Ticker(lambda: open_store(chosen, create=False))
    # Ctrl-C is how one leaves this command, so it is no error.
    with suppress(KeyboardInterrupt), closing(ticker):
        if once and not as_json:
            _picture(ticker, title)
        elif as_json or not lively(sys.stdout):
            _lines(ticker, pause, 1 if once else count, as_json)
        else:
            _live(ticker, title, pause, count)


def _picture(ticker: Ticker, title: str) -> None:
    tick = ticker.tick()
    if tick.seen is None:
        raise CommandFailed(str(tick.outage), "try again", ExitCode.BACKEND)
    for line in frame(tick, title):
        put(line)


def _lines(ticker: Ticker, pause: float, count: int | None, as_json: bool) -> None:
    for number in _numbers(count):
        if number:
            time.sleep(pause)
        put(_line(ticker.tick(), as_json))


def _live(ticker: Ticker, title: str, pause: float, count: int | None) -> None:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from ferryman.cli.keys import Keys

    # Killed politely, it must leave the terminal as it was: the same way as by Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    console = Console()
    with Keys() as keys, Live(console=console, screen=True, auto_refresh=False) as live:
        for _ in _numbers(count):
            lines = frame(ticker.tick(), title, console.height)
            # Text is taken as it is: what looks like rich's markup in an error stays an error.
            text = Text.from_ansi("\n".join(lines), no_wrap=True, overflow="ellipsis")
            live.update(text, refresh=True)
            if keys.pressed(pause) in ("q", "Q", ""):
                return


def _line(tick: Tick, as_json: bool) -> str:
    if as_json:
        return json_safe(json.dumps(presentation.tick(tick), ensure_ascii=False))
    at = time.time() if tick.seen is None or tick.outage is not None else tick.seen.at
    return text_line(presentation.moment(at) or "", facts(tick))


def _numbers(count: int | None) -> Iterator[int]:
    return iter(range(count)) if count is not None else itertools.count()
