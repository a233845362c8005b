"""Who changed what."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel


class AuditRow(BaseModel):
    """One change; `count` is null where it is not about jobs."""

    at: datetime
    who: str
    act: str
    target: str
    where: str | None
    count: int | None
    request_id: str


class AuditPage(BaseModel):
    """Rows, newest first; `next` is the `after` of the next page, null at the end."""

    rows: list[AuditRow]
    next: str | None
