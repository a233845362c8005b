"""Jobs, one or a page of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel

from ferryman.job import State


class Job(BaseModel):
    """A job as lists show it. Durations are seconds; what looks secret is `***`."""

    id: str
    queue: str
    task: str
    state: State
    priority: int
    attempts: int
    max_attempts: int
    created_at: datetime
    ready_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    deadline: datetime | None
    asked: Literal["cancel", "pause"] | None
    percent: float | None
    note: str | None
    error: str | None
    key: str | None
    correlation_id: str | None
    tenant: str | None
    meta: dict[str, str]
    payload: Any
    result: Any
    checkpoint: Any
    version: int
    generation: int
    given_back: int
    fence: int
    worker: str | None
    heartbeat_at: datetime | None
    expires_at: datetime | None
    timeout: float | None
    backoff: str | None


class JobError(BaseModel):
    """Why one attempt did not end well."""

    attempt: int
    at: datetime
    worker: str | None
    kind: str
    text: str
    traceback: str | None


class LogLine(BaseModel):
    """A line that a handler wrote."""

    at: datetime
    text: str


class WholeJob(Job):
    """A job with its history."""

    errors: list[JobError]
    logs: list[LogLine]


class JobPage(BaseModel):
    """Jobs, newest push first; `next` is the `after` of the next page, null at the end."""

    jobs: list[Job]
    next: str | None


class FoundJobs(JobPage):
    """A page of a search: not `complete`, its time was up after so many were `scanned`.

    `scanned` is null where the store looked by itself.
    """

    scanned: int | None
    complete: bool


class JobCounts(BaseModel):
    """Jobs by state; `more` where they are at least so many."""

    states: dict[State, int]
    more: bool


class JobResult(BaseModel):
    """What a job came to; `result` is null until it completed."""

    id: str
    state: State
    result: Any
    error: str | None


class JobLogs(BaseModel):
    """The lines that a job's handler wrote."""

    id: str
    logs: list[LogLine]


class JobProgress(BaseModel):
    """How far a job is."""

    id: str
    state: State
    percent: float | None
    note: str | None
    attempts: int
    heartbeat_at: datetime | None
    finished_at: datetime | None


class ActedJob(BaseModel):
    """The state of a job after an act; of one that was deleted, its last."""

    id: str
    state: State | None
