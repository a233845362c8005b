"""The job whose handler runs here."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferryman.job import Job

current: ContextVar[Job | None] = ContextVar("ferryman_job", default=None)


def current_job() -> Job | None:
    """The job whose handler runs here, for code that was not handed it."""
    return current.get()
