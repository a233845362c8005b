"""Acts on everything that matches a filter."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel

from ferryman.lifecycle import Act
from ferryman.service.bulk import BulkState


class BulkAct(BaseModel):
    """`matched` = `done` + `refused`, and grows while the state is running."""

    id: str
    act: Act
    where: str
    by: str
    state: BulkState
    cancelling: bool
    matched: int
    done: int
    refused: int
    started_at: datetime
    finished_at: datetime | None


class BulkActs(BaseModel):
    """Those that run, and those of the last week, newest first."""

    bulk: list[BulkAct]


class Preview(BaseModel):
    """How many jobs match, and how many of them the act can be done to; not `complete`: at least
    so many."""

    matched: int
    allowed: int
    complete: bool
