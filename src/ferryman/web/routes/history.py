"""What was ended over time, for charts."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from ferryman.message import MAX_NAME
from ferryman.service import presentation
from ferryman.service.history import MOST_HOURS
from ferryman.web import models
from ferryman.web.answers import Json
from ferryman.web.guard import Here
from ferryman.web.openapi import sends
from ferryman.web.routes.names import guarded_router

router = guarded_router("history")

Queue = Annotated[str | None, Query(max_length=MAX_NAME, description="Only this queue.")]
Hours = Annotated[int, Query(ge=1, le=MOST_HOURS, description="So far back.")]


@router.get("/v1/history", responses=sends(models.History))
def history(here: Here, queue: Queue = None, hours: Hours = MOST_HOURS) -> Json:
    """What workers ended in each five minutes, with quantiles of how long it waited and ran."""
    return Json(presentation.history(here.insights.history(queue, hours)))
