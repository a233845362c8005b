"""What became of jobs that were handed over."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel


class PushedJob(BaseModel):
    """`existing` was there already; `replaced` has the new body; the others were refused."""

    id: str
    status: Literal["created", "existing", "replaced", "conflict", "full", "tenant full"]


class PushedJobs(BaseModel):
    """In the order of the request; `created` is how many are new or have a new body."""

    jobs: list[PushedJob]
    created: int
