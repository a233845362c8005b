"""`ferryman work`: one worker process, or several under a supervisor."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, nullcontext, suppress
from difflib import get_close_matches
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, cast

import typer

from ferryman.cli.failures import CommandFailed, ExitCode
from ferryman.cli.fleet import Fleet, end_with_supervisor
from ferryman.cli.loading import load_ferry
from ferryman.cli.options import plain_typer
from ferryman.cli.output import say
from ferryman.errors import BackendUnavailable
from ferryman.service.config import Config
from ferryman.telemetry.escape import without_credentials
from ferryman.telemetry.lines import LogFormat, configure
from ferryman.telemetry.logs import EventLog
from ferryman.worker.patience import Patience

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from contextlib import AbstractContextManager

    from ferryman.ferry import Ferry

app = plain_typer()

Text = str | None
MAX_PROCESSES = 1_000
SHARED_DIR = "PROMETHEUS_MULTIPROC_DIR"
"""As in `telemetry.metrics`, which is not imported where nobody counts."""


@app.command()
def work(
    target: Annotated[
        str, typer.Argument(metavar="MODULE:ATTRIBUTE", help="The app's Ferry, such as app:ferry.")
    ],
    *,
    queues: Annotated[
        Text,
        typer.Option(
            metavar="NAME[:SLOTS],...",
            help="Queues to work on and how many jobs of each at a time, such as "
            "archive:4,extract:1; `*` is every other queue of the app. "
            "[env: FERRYMAN_QUEUES; default: all queues of the app]",
        ),
    ] = None,
    concurrency: Annotated[
        Text,
        typer.Option(
            metavar="N",
            help="Slots for each queue without a number. [env: FERRYMAN_CONCURRENCY; default: 1]",
        ),
    ] = None,
    lease: Annotated[
        Text,
        typer.Option(
            metavar="DURATION",
            help="How long a claim lives without a heartbeat. "
            "[env: FERRYMAN_LEASE; default: the app's, 60s]",
        ),
    ] = None,
    drain: Annotated[
        Text,
        typer.Option(
            metavar="DURATION",
            help="How long running jobs may go on after the first signal. "
            "[env: FERRYMAN_DRAIN; default: 25s]",
        ),
    ] = None,
    poll_every: Annotated[
        Text,
        typer.Option(
            metavar="DURATION",
            help="Look for jobs at least this often. [env: FERRYMAN_POLL_EVERY; default: 1s]",
        ),
    ] = None,
    log_level: Annotated[
        Text,
        typer.Option(
            metavar="LEVEL",
            help="debug, info, warning, error or critical. "
            "[env: FERRYMAN_LOG_LEVEL; default: info]",
        ),
    ] = None,
    log_format: Annotated[
        Text,
        typer.Option(
            metavar="FORMAT",
            help="text or json, one line each on standard error. "
            "[env: FERRYMAN_LOG_FORMAT; default: text]",
        ),
    ] = None,
    url: Annotated[
        Text,
        typer.Option(metavar="URL", help="Another store than the app's own."),
    ] = None,
    processes: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            max=MAX_PROCESSES,
            help="Run so many whole workers, each with these options, and restart those that die.",
        ),
    ] = 1,
    web: Annotated[
        Text,
        typer.Option(
            metavar="[HOST:]PORT",
            help="Serve the API too, like `ferryman serve`; of several, the first worker does.",
        ),
    ] = None,
    reload: Annotated[
        bool,
        typer.Option("--reload", help="For development: restart when a file of the app changes."),
    ] = False,
) -> None:
    """Run the jobs of an app until told to stop.

    SIGTERM or Ctrl-C: claim nothing more, let running jobs end, give the rest back. A second one:
    give back now.
    """
    chosen: dict[str, str | None] = {
        "queues": queues,
        "concurrency": concurrency,
        "lease": lease,
        "drain": drain,
        "poll_every": poll_every,
        "log_level": log_level,
        "log_format": log_format,
    }
    config = Config.load(os.environ, **chosen)
    if processes > 1 or reload:
        from ferryman.cli.sources import Sources

        sources = Sources.of(target) if reload else None
        words = _one_worker(target, {**chosen, "url": url})
        serving = () if web is None else (f"--web={web}",)
        with _counting_together() if serving else nullcontext():
            raise typer.Exit(Fleet(words, processes, sources, serving).run())
    end_with_supervisor()
    with load_ferry(target, url) as ferry:
        raise typer.Exit(_run(ferry, target, config, web))


def _one_worker(target: str, options: Mapping[str, str | None]) -> list[str]:
    """The command line of one worker with these options."""
    given = {name.replace("_", "-"): text for name, text in options.items() if text is not None}
    return ["work", target, *(f"--{name}={text}" for name, text in given.items())]


def _run(ferry: Ferry, target: str, config: Config, web: str | None) -> int:
    if not len(ferry.tasks):
        raise CommandFailed(
            f"{target} has no tasks, so there is nothing to run",
            "declare one with @ferry.task(), or import the modules that do",
            ExitCode.USAGE,
        )
    _check_store(ferry)
    known = {task.options.queue for task in ferry.tasks}
    slots = config.slots(known)
    _warn_of_strangers(slots, known)
    handler = configure(config.log_level or "info", cast("LogFormat", config.log_format or "text"))
    stop = EventLog.follow(ferry.events, ferry.backend.clock)
    try:
        worker = ferry.worker(slots, config.worker_settings(ferry.lease), app=target)
        if web is None and SHARED_DIR in os.environ:
            _count(ferry)
        with _served(ferry, web):
            return worker.run()
    finally:
        stop()
        handler.flush()


def _served(ferry: Ferry, web: str | None) -> AbstractContextManager[object]:
    """The server beside the worker: it drains when the worker has."""
    if web is None:
        return nullcontext()
    from ferryman.cli.serve import listening_address, web_server

    return web_server(ferry, *listening_address("--web", web))


@contextmanager
def _counting_together() -> Iterator[None]:
    """Let the workers count in one folder, so that the one that serves can show them all.

    The library's own way: what a worker counted is in its file, and outlives a kill.
    """
    if SHARED_DIR in os.environ:
        yield
        return
    with TemporaryDirectory(prefix="ferryman-metrics-") as folder:
        os.environ[SHARED_DIR] = folder
        yield


def _count(ferry: Ferry) -> None:
    # Somebody may have set the variable for other programs, where nothing of ours could count.
    with suppress(ModuleNotFoundError):
        from ferryman.telemetry.metrics import count

        count(ferry.events)


def _check_store(ferry: Ferry) -> None:
    """A store that refuses for good ends the command; one that is only down is waited for."""
    patience, told = Patience(), False
    while True:
        try:
            ferry.backend.snapshot()
            return
        except BackendUnavailable as error:
            if not told:
                reason = without_credentials(str(error))
                say(f"the store does not answer yet, waiting for it: {reason}")
            told = True
        time.sleep(patience.failed())


def _warn_of_strangers(chosen: Collection[str], known: Collection[str]) -> None:
    """A queue may be fed by `using(queue=…)` alone, so an unknown one is no error; a typo is."""
    for queue in chosen:
        if queue not in known:
            close = get_close_matches(queue, known, 1)
            hint = f": did you mean {close[0]!r}?" if close else ""
            say(f"no task of the app belongs to queue {queue!r}{hint}")
