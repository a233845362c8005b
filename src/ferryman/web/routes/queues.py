"""Queues, and the store as a whole."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from ferryman.message import MAX_NAME, MAX_SECONDS
from ferryman.service import presentation
from ferryman.service.config import MAX_SLOTS
from ferryman.service.failures import failures
from ferryman.service.scale import SLOTS, scale
from ferryman.service.why import why
from ferryman.web import models
from ferryman.web.answers import Json
from ferryman.web.guard import Here
from ferryman.web.openapi import sends
from ferryman.web.routes.names import QueueName, guarded_router

router = guarded_router("queues")


@router.get("/v1/overview", responses=sends(models.Overview))
def overview(here: Here) -> Json:
    """Counts of every queue, and the workers."""
    return Json(presentation.overview(here.insights.overview()))


@router.get("/v1/queues", responses=sends(models.Queues))
def queues(here: Here) -> Json:
    """Counts of every queue that has jobs or is paused."""
    return Json({"queues": [presentation.queue(one) for one in here.insights.queues()]})


@router.get("/v1/queues/{queue}", responses=sends(models.WholeQueue))
def queue(here: Here, queue: QueueName) -> Json:
    """One queue: its counts, why nothing starts, its workers and its tasks."""
    insights = here.insights
    counts = insights.queue(queue)
    tasks = [task for task in here.site.tasks or () if task.options.queue == queue]
    rows = insights.workers() if insights.knows_workers else []
    return Json(
        {
            **presentation.queue(counts),
            "why": [presentation.reason(one) for one in why(insights, counts)],
            "workers": [presentation.worker(row) for row in rows if queue in row.queues],
            "tasks": sorted(task.name for task in tasks) or insights.tasks(queue),
        }
    )


@router.get("/v1/scale", responses=sends(models.Scale))
def scaling(
    here: Here,
    queue: Annotated[str, Query(max_length=MAX_NAME, description="The queue.")],
    slots: Annotated[
        int,
        Query(ge=1, le=MAX_SLOTS, description="Slots of a worker, where none is alive to tell."),
    ] = SLOTS,
) -> Json:
    """How many workers a queue could use, for autoscalers; 0 for one without jobs."""
    return Json(presentation.scale(scale(here.insights, queue, slots)))


@router.get("/v1/failures", responses=sends(models.Failures))
def failed(
    here: Here,
    since: Annotated[
        float | None, Query(gt=0, le=MAX_SECONDS, description="Of the last so many seconds.")
    ] = None,
) -> Json:
    """Failed jobs by what went wrong, the largest group first."""
    return Json(presentation.failures(failures(here.site.backend, here.insights, since)))


@router.post("/v1/queues/{queue}/pause", responses=sends(models.QueuePause))
def pause_queue(here: Here, queue: QueueName) -> Json:
    """Stop claims from a queue; jobs that run go on, pushes are accepted."""
    here.control.pause_queue(queue)
    here.target = queue
    return Json({"queue": queue, "paused": True})


@router.post("/v1/queues/{queue}/resume", responses=sends(models.QueuePause))
def resume_queue(here: Here, queue: QueueName) -> Json:
    """Allow claims again."""
    here.control.resume_queue(queue)
    here.target = queue
    return Json({"queue": queue, "paused": False})


@router.post("/v1/queues/{queue}/purge", responses=sends(models.Purged))
def purge(here: Here, queue: QueueName) -> Json:
    """Delete a queue's pending and paused jobs."""
    here.target, here.count = queue, here.control.purge(queue)
    return Json({"queue": queue, "purged": here.count})
