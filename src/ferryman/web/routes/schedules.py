"""Schedules."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from ferryman.flow.timetable import Entry
from ferryman.service import presentation
from ferryman.web.answers import Json
from ferryman.web.guard import Here
from ferryman.web.routes.names import guarded_router

router = guarded_router("schedules")

UPCOMING: Final = 5


@router.get("/v1/schedules")
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
