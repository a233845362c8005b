"""`ferryman jobs`: find jobs, look at one, and act on some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ferryman.cli.confirm import confirm
from ferryman.cli.failures import CommandFailed, ExitCode
from ferryman.cli.job_text import put_job
from ferryman.cli.options import Json, Url, Yes, opened, plain_typer
from ferryman.cli.output import counted, put, put_json, say
from ferryman.cli.tables import job_table
from ferryman.errors import JobNotFound
from ferryman.lifecycle import Act
from ferryman.service import presentation
from ferryman.service.control import Control
from ferryman.service.insights import Insights
from ferryman.telemetry.escape import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.queue.answers import Acted
    from ferryman.queue.contract import Backend

app = plain_typer(group=True)

FilterWords = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILTER",
        help="Such as: state:failed queue:mail 'error:\"no answer\"' payload.user.id:42 'age:>1h'. "
        "Put -- before a condition that begins with a minus.",
        show_default=False,
    ),
]
SomeIds = Annotated[list[str], typer.Argument(metavar="ID", help="The jobs.")]
Ids = Annotated[list[str] | None, typer.Argument(metavar="ID", help="The jobs.")]
Where = Annotated[
    str | None, typer.Option(metavar="FILTER", help="Every job that matches, instead of ids.")
]


@app.callback()
def jobs() -> None:
    """List, show, retry, cancel, pause, resume, delete jobs."""


@app.command("list")
def list_jobs(
    words: FilterWords = None,
    limit: Annotated[int, typer.Option(help="At most so many, up to 1000.")] = 50,
    after: Annotated[
        str | None, typer.Option(metavar="NEXT", help="Go on after the page before: its `next`.")
    ] = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """List jobs that match a filter, newest first."""
    with opened(url) as backend:
        insights = Insights(backend)
        found = insights.jobs(" ".join(words or ()), limit=limit, after=after)
        now = insights.now()
    if as_json:
        put_json(presentation.page(found))
        return
    job_table(found.jobs, now)
    if found.next is not None:
        say(f"there are more: go on with --after {found.next}")


@app.command()
def show(ids: SomeIds, url: Url = None, as_json: Json = False) -> None:
    """Show whole jobs: payload, result, every error and log line."""
    found, missing = [], []
    with opened(url) as backend:
        insights = Insights(backend)
        for job_id in ids:
            try:
                found.append(presentation.job_whole(insights.job(job_id)))
            except JobNotFound as error:
                missing.append(str(error))
    if as_json:
        put_json({"jobs": found})
    else:
        for job in found:
            put_job(job)
    for text in missing:
        say(f"ferryman: {text}")
    if missing:
        raise typer.Exit(ExitCode.NOT_FOUND)


def _declare(act: Act, text: str) -> None:
    def command(
        ids: Ids = None,
        where: Where = None,
        yes: Yes = False,
        url: Url = None,
        as_json: Json = False,
    ) -> None:
        if bool(ids) == (where is not None):
            raise CommandFailed(
                f"jobs {act} needs either ids or --where FILTER",
                f"ferryman jobs {act} --help",
                ExitCode.USAGE,
            )
        with opened(url) as backend:
            if where is not None:
                _act_where(backend, act, where, yes=yes, as_json=as_json)
            else:
                _act_on(backend, act, ids or [], yes=yes, as_json=as_json)

    command.__doc__ = text
    app.command(str(act))(command)


_declare(Act.RETRY, "Give finished jobs a new budget and run them again, now.")
_declare(Act.CANCEL, "Cancel waiting jobs; ask the workers of running ones to stop.")
_declare(Act.PAUSE, "Hold pending jobs back; ask running ones to stop at a safe point.")
_declare(Act.RESUME, "Make paused jobs pending again.")
_declare(Act.DELETE, "Forget jobs wholly; running ones must be cancelled first.")


def _act_where(backend: Backend, act: Act, where: str, *, yes: bool, as_json: bool) -> None:
    control = Control(backend)
    if act in (Act.RETRY, Act.CANCEL, Act.DELETE) and not yes:
        seen = control.preview(act, where)
        others = seen.matched - seen.allowed
        rest = f" ({others} more match, but their state does not allow it)" if others else ""
        confirm(f"{act} {counted(seen.allowed)}{rest}", yes=False)
    bulk = control.act_where(act, where)
    if as_json:
        put_json(presentation.bulk(bulk))
    else:
        put(f"{bulk.matched} matched, {bulk.done} done, {bulk.refused} refused")


def _act_on(backend: Backend, act: Act, ids: Sequence[str], *, yes: bool, as_json: bool) -> None:
    if act is Act.DELETE:
        confirm(f"delete {counted(len(ids))}", yes=yes)
    answers = Control(backend).act_on(act, ids)
    if as_json:
        put_json(presentation.acted(answers))
    for one in answers:
        if one.refused is not None:
            say(f"ferryman: {one.refused}")
        elif not as_json:
            put(f"{one_line(one.id)}: {_outcome(act, one)}")
    if any(one.state is None for one in answers):
        raise typer.Exit(ExitCode.NOT_FOUND)
    if any(one.refused is not None for one in answers):
        raise typer.Exit(ExitCode.REFUSED)


def _outcome(act: Act, answer: Acted) -> str:
    if act is Act.DELETE:
        return "deleted"
    # A running job is only asked; the state that follows is its worker's to record.
    return f"asked to {act}" if answer.state == "processing" else str(answer.state)
