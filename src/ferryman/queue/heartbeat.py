"""Prolonging leases, with the news that travels in both directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferryman.job import Ask, LogLine


@dataclass(frozen=True, slots=True)
class Beat:
    """One held claim and what its handler reported since the last beat (checkpoint: JSON text)."""

    job_id: str
    fence: int
    percent: float | None = None
    note: str | None = None
    checkpoint: str | None = None
    logs: tuple[LogLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Pulse:
    """The answer to one beat: whether the lease still holds, and what an operator asked."""

    job_id: str
    fence: int
    held: bool
    asked: Ask | None = None
