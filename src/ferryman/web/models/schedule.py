"""Schedules."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel

from ferryman.flow.schedule import Missed


class Schedule(BaseModel):
    """`cron` or `every` seconds. `last` is the latest slot that is settled, `next` the one to come;
    `next` is null and `upcoming` empty while it is paused."""

    schedule: str
    paused: bool
    cron: str | None
    every: int | None
    tz: str
    missed: Missed
    task: str
    queue: str
    payload: Any
    last: datetime
    next: datetime | None
    upcoming: list[datetime]


class Schedules(BaseModel):
    """Those that workers have declared."""

    schedules: list[Schedule]


class SchedulePause(BaseModel):
    """Whether its slots are left out now."""

    schedule: str
    paused: bool


class RanSchedule(BaseModel):
    """The job that was pushed besides its slots."""

    schedule: str
    id: str
    created: bool
