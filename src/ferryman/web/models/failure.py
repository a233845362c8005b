"""Failed jobs by what went wrong."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel


class FailureGroup(BaseModel):
    """Jobs that failed alike; `where` is a filter that finds them, `sample` the id of one."""

    fingerprint: str
    task: str
    kind: str
    text: str
    count: int
    queues: list[str]
    first_at: datetime
    last_at: datetime
    sample: str
    where: str


class Failures(BaseModel):
    """The largest group first; not `complete`: the time was up."""

    groups: list[FailureGroup]
    scanned: int
    complete: bool
