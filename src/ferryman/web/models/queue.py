"""Queues, one or all of them."""

from __future__ import annotations

from pydantic import BaseModel

from ferryman.job import State
from ferryman.web.models.worker import Worker


class Queue(BaseModel):
    """Counts of a queue; `ready` and `scheduled` make up its pending jobs.

    `oldest_ready`: seconds for which its oldest ready job has been due; null if none is, or if the
    store cannot tell.
    """

    queue: str
    paused: bool
    ready: int
    scheduled: int
    oldest_ready: int | None
    states: dict[State, int]


class Queues(BaseModel):
    """Every queue that has jobs or is paused, by name."""

    queues: list[Queue]


class Reason(BaseModel):
    """What holds the jobs of a queue back, and what to do."""

    reason: str
    text: str
    fix: str


class WholeQueue(Queue):
    """A queue with why nothing starts, its workers, and the tasks of its jobs."""

    why: list[Reason]
    workers: list[Worker]
    tasks: list[str]


class QueuePause(BaseModel):
    """Whether claims from the queue are stopped now."""

    queue: str
    paused: bool


class Purged(BaseModel):
    """How many jobs were deleted."""

    queue: str
    purged: int


class Scale(BaseModel):
    """`wanted` workers of `slots` slots each could work on this queue."""

    queue: str
    ready: int
    running: int
    slots: int
    wanted: int
