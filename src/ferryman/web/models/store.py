"""A store as a whole."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel

from ferryman.job import State
from ferryman.web.models.queue import Queue
from ferryman.web.models.worker import Worker


class Trouble(BaseModel):
    """Something that was set aside because it could not be used."""

    queue: str
    path: str
    reason: str
    at: datetime


class Overview(BaseModel):
    """A store at one moment; `workers` is null where it keeps no rows about them."""

    at: datetime
    backend: str
    states: dict[State, int]
    scheduled: int
    queues: list[Queue]
    workers: list[Worker] | None
    set_aside: list[Trouble]


class Change(BaseModel):
    """The data of an event `change`: the queues that differ, and the store as it is now.

    While the store does not answer, `outage` is what it said instead, and the rest is as it was
    last seen; null if that was never.
    """

    at: datetime | None
    queues: list[str]
    overview: Overview | None
    outage: str | None


class Finding(BaseModel):
    """One thing that was looked at; `fix` is empty when all is well."""

    check: str
    severity: Literal["ok", "warning", "problem"]
    what: str
    fix: str


class Findings(BaseModel):
    """What `ferryman doctor` finds."""

    findings: list[Finding]
