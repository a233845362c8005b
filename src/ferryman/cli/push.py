"""`ferryman push`: hand over one job."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ferryman.cli.failures import CommandFailed, ExitCode
from ferryman.cli.options import Json, Url, opened, plain_typer
from ferryman.cli.output import put, put_json, say
from ferryman.job import State
from ferryman.service import presentation
from ferryman.service.config import InvalidSetting, duration
from ferryman.service.control import Control
from ferryman.tasks.handle import Handle
from ferryman.telemetry.escape import json_safe, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferryman.queue.answers import Pushed
    from ferryman.queue.contract import Backend
    from ferryman.tasks.tasks import Tasks

app = plain_typer()

Text = str | None


@app.command()
def push(
    task: Annotated[str, typer.Argument(metavar="TASK", help="The task's name.")],
    payload: Annotated[
        str,
        typer.Argument(metavar="JSON", help="The payload; - reads it from standard input."),
    ] = "null",
    *,
    queue: Annotated[
        Text, typer.Option(metavar="NAME", help="Default: the task's own name, or its app's queue.")
    ] = None,
    priority: Annotated[
        Text, typer.Option(metavar="N", help="Higher first: a number, high, normal or low.")
    ] = None,
    delay: Annotated[
        Text, typer.Option(metavar="DURATION", help="Not before this long from now.")
    ] = None,
    expires: Annotated[
        Text, typer.Option(metavar="DURATION", help="Cancel it unless it started by then.")
    ] = None,
    key: Annotated[
        Text,
        typer.Option(metavar="KEY", help="No second job while one with this key is unfinished."),
    ] = None,
    job_id: Annotated[
        Text, typer.Option("--id", metavar="ID", help="Makes the push repeatable.")
    ] = None,
    max_attempts: Annotated[
        int | None, typer.Option(metavar="N", help="How often it may be tried.", show_default=False)
    ] = None,
    meta: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A small string to find it by; repeatable."),
    ] = None,
    tenant: Annotated[
        Text, typer.Option(metavar="NAME", help="Tenants of one queue take turns.")
    ] = None,
    wait: Annotated[
        Text, typer.Option(metavar="DURATION", help="Wait for its end, print its result.")
    ] = None,
    target: Annotated[
        Text,
        typer.Option(
            "--app",
            metavar="MODULE:ATTRIBUTE",
            help="A Ferry whose task lends its defaults and checks the payload.",
        ),
    ] = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Hand over a job by its task's name.

    Prints the job's id. The same --id and payload again change nothing.
    """
    options: dict[str, Any] = {
        "queue": queue,
        "priority": _priority(priority),
        "delay": _seconds("--delay", delay),
        "expires": _seconds("--expires", expires),
        "key": key,
        "id": job_id,
        "meta": _meta(meta or ()),
        "tenant": tenant,
    }
    chosen = {name: value for name, value in options.items() if value is not None}
    patience = _seconds("--wait", wait)
    with _store(target, url) as (backend, tasks):
        control = Control(backend, tasks)
        pushed = control.push(task, _payload(payload), max_attempts=max_attempts, **chosen)
        if patience is None:
            _tell(pushed, as_json)
        else:
            _wait(backend, pushed, patience, as_json)


@contextmanager
def _store(target: str | None, url: str | None) -> Iterator[tuple[Backend, Tasks | None]]:
    if target is None:
        with opened(url, create=True) as backend:
            yield backend, None
        return
    from ferryman.cli.loading import load_ferry

    with load_ferry(target, url) as ferry:
        yield ferry.backend, ferry.tasks


def _tell(pushed: Pushed, as_json: bool) -> None:
    if as_json:
        put_json({"id": pushed.id, "status": pushed.status})
        return
    put(one_line(pushed.id))
    if not pushed.created:
        say("nothing new was pushed: this job was already there")


def _wait(backend: Backend, pushed: Pushed, patience: float, as_json: bool) -> None:
    if not as_json:
        say(f"job {pushed.id} {pushed.status}, waiting")
    job = Handle[Any](pushed.id, lambda: backend).wait(patience)
    shown = presentation.job_whole(job)
    if as_json:
        put_json({"id": pushed.id, "status": pushed.status, "job": shown})
    elif job.state is State.COMPLETED:
        put(json_safe(json.dumps(shown["result"], ensure_ascii=False)))
    if job.state is not State.COMPLETED:
        raise CommandFailed(
            f"job {job.id!r} ended in {job.state}: {shown['error'] or 'no reason was recorded'}",
            f"ferryman jobs show {job.id}",
        )


def _payload(text: str) -> Any:
    try:
        raw = sys.stdin.buffer.read().decode() if text == "-" else text
        return json.loads(raw)
    except UnicodeDecodeError as error:
        raise CommandFailed(
            f"standard input is not UTF-8: {error}", "send JSON as UTF-8", ExitCode.USAGE
        ) from error
    except (ValueError, RecursionError) as error:
        raise CommandFailed(
            f"the payload is not JSON: {error}",
            "quote it for the shell, such as '{\"user\": 42}' or '\"text\"'",
            ExitCode.USAGE,
        ) from error


def _priority(text: str | None) -> int | str | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        return text


def _seconds(name: str, text: str | None) -> float | None:
    return None if text is None else duration(name, text)


def _meta(pairs: Sequence[str]) -> dict[str, str] | None:
    meta = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise InvalidSetting("--meta", f"{pair!r}: write name=value")
        meta[name] = value
    return meta or None
