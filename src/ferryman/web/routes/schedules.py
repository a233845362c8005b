"""Schedules."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from ferryman.flow.timetable import Entry
from ferryman.service import presentation
from ferryman.web import models
from ferryman.web.answers import Json
from ferryman.web.guard import Here
from ferryman.web.openapi import sends
from ferryman.web.routes.names import Name, guarded_router

router = guarded_router("schedules")

UPCOMING: Final = 5


@router.get("/v1/schedules", responses=sends(models.Schedules))
def schedules(here: Here) -> Json:
    """The schedules that workers have declared, with their next slots."""
    now = here.insights.now()
    return Json({"schedules": [_shown(entry, now) for entry in here.insights.schedules()]})


def _shown(entry: Entry, now: float) -> dict[str, Any]:
    slots = (
        () if entry.paused else islice(entry.schedule.slots.after(max(entry.last, now)), UPCOMING)
    )
    return {
        **presentation.schedule(entry, now),
        "upcoming": [presentation.moment(slot) for slot in slots],
    }


@router.post("/v1/schedules/{name}/pause", responses=sends(models.SchedulePause))
def pause_schedule(here: Here, name: Name) -> Json:
    """Push no slots of a schedule until it is resumed."""
    here.control.pause_schedule(name)
    here.target = name
    return Json({"schedule": name, "paused": True})


@router.post("/v1/schedules/{name}/resume", responses=sends(models.SchedulePause))
def resume_schedule(here: Here, name: Name) -> Json:
    """Go on with a schedule's next slot."""
    here.control.resume_schedule(name)
    here.target = name
    return Json({"schedule": name, "paused": False})


@router.post("/v1/schedules/{name}/run", responses=sends(models.RanSchedule))
def run_schedule(here: Here, name: Name) -> Json:
    """Push one job of a schedule now, besides its slots."""
    with here.pushing(1) as spending:
        pushed = here.control.run_schedule(name)
        spending.used = int(pushed.created)
    here.target, here.count = name, 1
    return Json({"schedule": name, "id": pushed.id, "created": pushed.created})
