"""Jobs: finding them, looking at one, acting on one."""

from __future__ import annotations

from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import Header, Response

from ferryman.lifecycle import Act
from ferryman.service import presentation
from ferryman.service.api_keys import digest
from ferryman.web import models
from ferryman.web.answers import Json
from ferryman.web.guard import Here
from ferryman.web.openapi import sends
from ferryman.web.routes.names import After, JobId, Limit, Where, guarded_router

router = guarded_router("jobs")


@router.get("/v1/jobs", responses=sends(models.FoundJobs))
async def jobs(here: Here, where: Where = "", limit: Limit = 50, after: After = None) -> Json:
    """Jobs that match a filter, newest push first.

    What no index finds is looked for during two seconds at most: where that was too short
    `complete` is false, `scanned` says how many were looked at, and `next` goes on from there.
    """

    def answer() -> Json:
        return Json(presentation.found(here.insights.search(where, limit=limit, after=after)))

    return await run_sync(answer, limiter=here.threads(where))


@router.get("/v1/jobs/counts", responses=sends(models.JobCounts))
async def counts(here: Here, where: Where = "") -> Json:
    """How many jobs match, by state; `more`: at least so many."""

    def answer() -> Json:
        return Json(presentation.counted(here.insights.counts(where)))

    return await run_sync(answer, limiter=here.threads(where))


@router.get("/v1/jobs/{job_id}", responses=sends(models.WholeJob))
def job(here: Here, job_id: JobId) -> Json:
    """One job with its errors and logs."""
    return Json(presentation.job_whole(here.insights.job(job_id)))


@router.get("/v1/jobs/{job_id}/result", responses=sends(models.JobResult))
def result(here: Here, job_id: JobId) -> Json:
    """What a job came to."""
    return Json(presentation.result(here.insights.job(job_id)))


@router.get("/v1/jobs/{job_id}/logs", responses=sends(models.JobLogs))
def logs(here: Here, job_id: JobId) -> Json:
    """The lines that a job's handler wrote."""
    return Json(presentation.logs(here.insights.job(job_id)))


@router.get(
    "/v1/jobs/{job_id}/progress",
    responses=sends(models.JobProgress) | {304: {"description": "As before."}},
)
def progress(
    here: Here, job_id: JobId, if_none_match: Annotated[str | None, Header()] = None
) -> Response:
    """How far a job is; 304 while nothing has changed since the ETag that is sent along."""
    answer = Json(presentation.progress(here.insights.job(job_id)))
    etag = f'"{digest(bytes(answer.body).decode())[:32]}"'
    # A proxy that packs answers makes tags weak, and that is enough to compare them.
    known = [one.strip().removeprefix("W/") for one in (if_none_match or "").split(",")]
    if etag in known or "*" in known:
        return Response(status_code=304, headers={"ETag": etag})
    answer.headers["ETag"] = etag
    return answer


@router.post("/v1/jobs/{job_id}/cancel", responses=sends(models.ActedJob))
def cancel_job(here: Here, job_id: JobId) -> Json:
    """Cancel a waiting job; ask the worker of a running one to stop."""
    return _job(here, Act.CANCEL, job_id)


@router.post("/v1/jobs/{job_id}/pause", responses=sends(models.ActedJob))
def pause_job(here: Here, job_id: JobId) -> Json:
    """Hold a pending job back; ask a running one to stop at a safe point."""
    return _job(here, Act.PAUSE, job_id)


@router.post("/v1/jobs/{job_id}/resume", responses=sends(models.ActedJob))
def resume_job(here: Here, job_id: JobId) -> Json:
    """Make a paused job pending again."""
    return _job(here, Act.RESUME, job_id)


@router.post("/v1/jobs/{job_id}/retry", responses=sends(models.ActedJob))
def retry_job(here: Here, job_id: JobId) -> Json:
    """Give a finished job a new budget and run it again."""
    return _job(here, Act.RETRY, job_id)


@router.delete("/v1/jobs/{job_id}", responses=sends(models.ActedJob))
def delete_job(here: Here, job_id: JobId) -> Json:
    """Forget a job wholly; not while it runs."""
    return _job(here, Act.DELETE, job_id)


def _job(here: Here, act: Act, job_id: str) -> Json:
    acted = here.control.act(act, job_id)
    here.target, here.count = job_id, 1
    return Json({"id": job_id, "state": None if acted.state is None else str(acted.state)})
