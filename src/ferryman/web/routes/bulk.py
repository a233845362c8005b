"""Acts on everything that matches a filter."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field

from ferryman.errors import InvalidFilter, NotAllowed
from ferryman.lifecycle import Act, act
from ferryman.service import presentation
from ferryman.service.bulk import BulkAct, BulkActs, BulkNotFound
from ferryman.service.roles import Role
from ferryman.web import models
from ferryman.web.answers import Json
from ferryman.web.guard import Here
from ferryman.web.openapi import sends
from ferryman.web.routes.names import guarded_router

router = guarded_router("bulk")

BulkId = Annotated[str, Path(max_length=100, description="The bulk act's id.")]


class Wanted(BaseModel):
    """What to do, to which jobs. An empty filter is refused."""

    model_config = ConfigDict(extra="forbid")
    act: Act
    where: str = Field(min_length=1, max_length=2_000)


@router.get("/v1/bulk", responses=sends(models.BulkActs))
def bulk_acts(here: Here) -> Json:
    """The bulk acts that run, and those of the last week, newest first."""
    found = [one for one in BulkActs(here.site.backend).list() if _may_see(here, one)]
    return Json({"bulk": [presentation.bulk_act(one) for one in found]})


@router.post("/v1/bulk", status_code=202, responses=sends(models.BulkAct, 202))
def begin(here: Here, wanted: Wanted) -> Json:
    """Begin an act on all jobs that match; it goes on by itself, also after a crash.

    Deleting needs the role admin. Its audit row is written at its end, with the exact count.
    """
    _check_role(here, wanted.act)
    bulk = BulkActs(here.site.backend).begin(
        wanted.act,
        wanted.where,
        by=here.visitor.name,
        request_id=here.request_id,
        queues=here.visitor.queues,
    )
    here.count = 0
    here.site.bulk.start()
    headers = {"Location": f"{here.root}/v1/bulk/{bulk.id}"}
    return Json(presentation.bulk_act(bulk), status_code=202, headers=headers)


@router.post("/v1/bulk/preview", responses=sends(models.Preview))
def preview(here: Here, wanted: Wanted) -> Json:
    """How many jobs match now, and how many are in a state that allows the act.

    Not `complete`: at least so many.
    """
    if not wanted.where.strip():
        raise InvalidFilter("an empty filter would match every job: name at least one condition")
    found = here.insights.counts(wanted.where, patient=True)
    allowed = 0
    for state, count in found.states.items():
        try:
            act(state, wanted.act, "")
        except NotAllowed:
            continue
        allowed += count
    matched = sum(found.states.values())
    return Json({"matched": matched, "allowed": allowed, "complete": not found.more})


@router.get("/v1/bulk/{bulk_id}", responses=sends(models.BulkAct))
def bulk_act(here: Here, bulk_id: BulkId) -> Json:
    """How far a bulk act is."""
    return Json(presentation.bulk_act(_known(here, bulk_id)))


@router.post("/v1/bulk/{bulk_id}/cancel", responses=sends(models.BulkAct))
def cancel(here: Here, bulk_id: BulkId) -> Json:
    """Ask a bulk act to stop; what was done stays done."""
    here.target = _known(here, bulk_id).id
    bulk = BulkActs(here.site.backend).cancel(bulk_id)
    here.site.bulk.start()
    return Json(presentation.bulk_act(bulk))


def _known(here: Here, bulk_id: str) -> BulkAct:
    bulk = BulkActs(here.site.backend).get(bulk_id)
    if not _may_see(here, bulk):
        raise BulkNotFound(bulk_id)
    return bulk


def _may_see(here: Here, bulk: BulkAct) -> bool:
    """A confined key: what was begun within its queues, and so what it has begun itself."""
    queues = here.visitor.queues
    return queues is None or (bulk.queues is not None and queues.issuperset(bulk.queues))


def _check_role(here: Here, act: Act) -> None:
    if act is Act.DELETE:
        here.require(Role.ADMIN)
