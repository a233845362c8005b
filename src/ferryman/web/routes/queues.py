"""Queues, and the store as a whole."""

from __future__ import annotations

from ferryman.service import presentation
from ferryman.web.answers import Json
from ferryman.web.guard import Here
from ferryman.web.routes.names import QueueName, guarded_router

router = guarded_router("queues")


@router.get("/v1/overview")
def overview(here: Here) -> Json:
    """Counts of every queue, and the workers."""
    return Json(presentation.overview(here.insights.overview()))


@router.get("/v1/queues")
def queues(here: Here) -> Json:
    """Counts of every queue that has jobs or is paused."""
    return Json({"queues": [presentation.queue(one) for one in here.insights.queues()]})


@router.get("/v1/queues/{queue}")
def queue(here: Here, queue: QueueName) -> Json:
    """One queue: its counts."""
    return Json(presentation.queue(here.insights.queue(queue)))
