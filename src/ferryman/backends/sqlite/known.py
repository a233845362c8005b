"""What the verbs read of a job before they change it: columns of `jobs`, selected by name."""

from __future__ import annotations

from typing import NamedTuple


class Known(NamedTuple):
    """A job that a message or an operator meets; `{known}` in a statement."""

    seq: int
    id: str
    queue: str
    task: str
    version: int
    body: str
    state: str
    scheduled: int
    attempts: int
    ready_at: float
    key: str | None
    meta: str | None
