"""What was ended over time."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel


class Quantiles(BaseModel):
    """Seconds; null where nothing ended."""

    p50: float | None
    p95: float | None
    p99: float | None


class Bucket(BaseModel):
    """What workers ended in one step from `at` on, how long it waited and how long it ran.

    `oldest_ready` are the most seconds for which a ready job was due; null while no worker lived.
    """

    at: datetime
    done: int
    failed: int
    retried: int
    cancelled: int
    wait: Quantiles
    run: Quantiles
    oldest_ready: int | None


class History(BaseModel):
    """Buckets of `step` seconds each, oldest first; the last one is under way."""

    step: int
    buckets: list[Bucket]
