"""`ferryman runs`: look at runs of pipelines, and stop, hold or repeat them."""

from __future__ import annotations

from typing import Annotated

import typer

from ferryman.cli.confirm import confirm
from ferryman.cli.options import Json, Url, Yes, opened, plain_typer
from ferryman.cli.output import counted, put, put_json, put_table
from ferryman.cli.tables import span
from ferryman.job import State
from ferryman.service import presentation
from ferryman.service.runs import Runs
from ferryman.telemetry.escape import one_line

app = plain_typer(group=True)

RunId = Annotated[str, typer.Argument(metavar="RUN", help="The run: the id of its first job.")]


@app.callback()
def runs() -> None:
    """List, show, cancel, pause, resume, retry runs of pipelines."""


@app.command("list")
def list_runs(
    pipeline: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only runs of this pipeline.")
    ] = None,
    limit: Annotated[int, typer.Option(help="At most so many, up to 1000.")] = 20,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """List runs, newest first."""
    with opened(url) as backend:
        found = Runs(backend).list(pipeline, limit=limit)
        now = backend.clock.now()
    if as_json:
        put_json({"runs": [presentation.run_row(row) for row in found]})
        return
    put_table(
        ("RUN", "STATE", "PIPELINE", "AGE"),
        [(row.id, row.state, row.pipeline, span(now - row.started_at)) for row in found],
    )


@app.command()
def show(run: RunId, url: Url = None, as_json: Json = False) -> None:
    """Show a run: the jobs of each stage by state."""
    with opened(url) as backend:
        whole = Runs(backend).show(run)
    if as_json:
        put_json(presentation.run_whole(whole))
        return
    put(f"{one_line(whole.id)}: {whole.progress.state}, pipeline {one_line(whole.pipeline)}")
    put_table(
        ("STAGE", *(state.upper() for state in State)),
        [
            (stage, *(counts.get(state, 0) for state in State))
            for stage, counts in whole.progress.stages.items()
        ],
    )


@app.command()
def cancel(run: RunId, url: Url = None, as_json: Json = False) -> None:
    """Cancel what waits and ask what runs to stop."""
    with opened(url) as backend:
        _tell(run, "cancelled", Runs(backend).find(run).cancel(), as_json)


@app.command()
def pause(run: RunId, url: Url = None, as_json: Json = False) -> None:
    """Hold back what waits and what will be handed over."""
    with opened(url) as backend:
        _tell(run, "paused", Runs(backend).find(run).pause(), as_json)


@app.command()
def resume(run: RunId, url: Url = None, as_json: Json = False) -> None:
    """Go on with what was paused."""
    with opened(url) as backend:
        _tell(run, "resumed", Runs(backend).find(run).resume(), as_json)


@app.command()
def retry(
    run: RunId,
    stage: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="All from this stage on, made anew, also what went well."
        ),
    ] = None,
    yes: Yes = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Run again what failed or was cancelled."""
    with opened(url) as backend:
        found = Runs(backend).find(run)
        if stage is not None:
            confirm(f"run stage {stage!r} again and forget all that followed from it", yes=yes)
        _tell(run, "retried", found.retry(stage), as_json)


def _tell(run: str, done: str, jobs: int, as_json: bool) -> None:
    if as_json:
        put_json({"run": run, "done": done, "jobs": jobs})
    else:
        put(f"{one_line(run)}: {done}, {counted(jobs)}")
