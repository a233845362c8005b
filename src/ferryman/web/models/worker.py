"""The workers of a store."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel


class Worker(BaseModel):
    """A worker as it described itself; `queues` are its slots, null is what it did not say."""

    id: str
    stale: bool
    host: str | None
    pid: int | None
    version: str | None
    queues: dict[str, int]
    running: int | None
    started_at: datetime | None
    heartbeat_at: datetime | None
    lease: float | None


class Workers(BaseModel):
    """Those that showed themselves lately."""

    workers: list[Worker]
