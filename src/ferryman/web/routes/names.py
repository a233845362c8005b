"""Names in paths and the parameters that several routes share."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import AfterValidator

from ferryman.message import MAX_ID, MAX_NAME
from ferryman.service.insights import MAX_PAGE
from ferryman.web.envelope import SLASH
from ferryman.web.guard import Guarded
from ferryman.web.openapi import refuses


def guarded_router(tag: str) -> APIRouter:
    """A router whose routes need a rule each."""
    return APIRouter(
        route_class=Guarded,
        tags=[tag],
        responses={"default": refuses("What was asked for could not be done.")},
    )


def _whole(name: str) -> str:
    return name.replace(SLASH, "/")


JobId = Annotated[str, Path(max_length=MAX_ID, description="The job's id."), AfterValidator(_whole)]
QueueName = Annotated[
    str, Path(max_length=MAX_NAME, description="The queue."), AfterValidator(_whole)
]
RunId = Annotated[
    str, Path(max_length=MAX_ID, description="The run: its first job's id."), AfterValidator(_whole)
]
Name = Annotated[str, Path(max_length=MAX_NAME, description="Its name."), AfterValidator(_whole)]
Where = Annotated[
    str,
    Query(
        max_length=2_000,
        description="A filter, such as `state:failed queue:mail age:>1h`; empty: every job.",
    ),
]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE, description="At most so many.")]
After = Annotated[
    str | None, Query(max_length=1_000, description="Go on after a page: its `next`.")
]
