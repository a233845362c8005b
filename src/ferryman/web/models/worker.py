"""The workers of a store."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel


class Worker(BaseModel):
    """A worker as it described itself; `queues` are its slots, null is what it did not say.

    `skew`: seconds by which the store's clock is ahead of its machine's. `hears`: whether the store
    tells it of pushes; null where no store would.
    """

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
    skew: float | None
    hears: bool | None


class Workers(BaseModel):
    """Those that showed themselves lately."""

    workers: list[Worker]
