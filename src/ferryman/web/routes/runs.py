"""Pipelines and their runs."""

from __future__ import annotations

from typing import Annotated

from fastapi import Body, Query
from pydantic import BaseModel, ConfigDict, Field

from ferryman.job import State
from ferryman.message import MAX_NAME
from ferryman.service import presentation
from ferryman.service.runs import Runs
from ferryman.web import models
from ferryman.web.answers import Json
from ferryman.web.guard import Here
from ferryman.web.openapi import sends
from ferryman.web.routes.names import After, Limit, Name, RunId, guarded_router

router = guarded_router("runs")

Pipeline = Annotated[
    str | None, Query(max_length=MAX_NAME, description="Only runs of this pipeline.")
]
Stage = Annotated[str | None, Query(max_length=MAX_NAME, description="Only jobs of this stage.")]


class FromStage(BaseModel):
    """Retry all from this stage on; null: only what failed or was cancelled."""

    model_config = ConfigDict(extra="forbid")
    stage: str | None = Field(default=None, max_length=MAX_NAME)


@router.get("/v1/pipelines", responses=sends(models.Pipelines))
def pipelines(here: Here) -> Json:
    """The pipelines that have had runs."""
    shapes = Runs(here.site.backend).pipelines()
    return Json({"pipelines": [presentation.pipeline(shape) for shape in shapes]})


@router.get("/v1/pipelines/{name}", responses=sends(models.Pipeline))
def pipeline(here: Here, name: Name) -> Json:
    """One pipeline: its stages and how they are joined."""
    return Json(presentation.pipeline(Runs(here.site.backend).pipeline(name)))


@router.get("/v1/runs", responses=sends(models.Runs))
def runs(here: Here, pipeline: Pipeline = None, limit: Limit = 20, after: After = None) -> Json:
    """The newest runs, with their states and the jobs of each stage."""
    page = Runs(here.site.backend).page(pipeline, limit=limit, after=after)
    return Json({"runs": [presentation.run_row(row) for row in page.runs], "next": page.next})


@router.get("/v1/runs/{run_id}", responses=sends(models.WholeRun))
def run(here: Here, run_id: RunId) -> Json:
    """One run: the jobs of each stage by state."""
    return Json(presentation.run_whole(Runs(here.site.backend).show(run_id)))


@router.get("/v1/runs/{run_id}/jobs", responses=sends(models.JobPage))
def jobs(
    here: Here,
    run_id: RunId,
    *,
    stage: Stage = None,
    state: State | None = None,
    limit: Limit = 50,
    after: After = None,
) -> Json:
    """The jobs of a run, newest first."""
    found = Runs(here.site.backend).jobs(run_id, stage=stage, state=state, limit=limit, after=after)
    return Json(presentation.page(found))


@router.post("/v1/runs/{run_id}/cancel", responses=sends(models.ActedRun))
def cancel_run(here: Here, run_id: RunId) -> Json:
    """Cancel what waits in a run, and ask what runs to stop."""
    return _run(here, run_id, "cancelled", Runs(here.site.backend).find(run_id).cancel())


@router.post("/v1/runs/{run_id}/pause", responses=sends(models.ActedRun))
def pause_run(here: Here, run_id: RunId) -> Json:
    """Hold back what waits in a run and what will be handed over."""
    return _run(here, run_id, "paused", Runs(here.site.backend).find(run_id).pause())


@router.post("/v1/runs/{run_id}/resume", responses=sends(models.ActedRun))
def resume_run(here: Here, run_id: RunId) -> Json:
    """Go on with a run."""
    return _run(here, run_id, "resumed", Runs(here.site.backend).find(run_id).resume())


@router.post("/v1/runs/{run_id}/retry", responses=sends(models.ActedRun))
def retry_run(
    here: Here, run_id: RunId, wanted: Annotated[FromStage | None, Body()] = None
) -> Json:
    """Run again what failed or was cancelled; with a stage, all from there on."""
    stage = None if wanted is None else wanted.stage
    return _run(here, run_id, "retried", Runs(here.site.backend).find(run_id).retry(stage))


def _run(here: Here, run_id: str, done: str, jobs: int) -> Json:
    # Not as `count`: a run of which no job was touched was paused or resumed all the same.
    here.target = run_id
    return Json({"run": run_id, "done": done, "jobs": jobs})
