"""Workers, and what limits all of them."""

from __future__ import annotations

from ferryman.service import presentation
from ferryman.web import models
from ferryman.web.answers import Json
from ferryman.web.guard import Here
from ferryman.web.openapi import sends
from ferryman.web.routes.names import Name, guarded_router

router = guarded_router("workers")


@router.get("/v1/workers", responses=sends(models.Workers))
def workers(here: Here) -> Json:
    """The workers that showed themselves lately."""
    return Json({"workers": [presentation.worker(row) for row in here.insights.workers()]})


@router.get("/v1/breakers", responses=sends(models.Breakers))
def breakers(here: Here) -> Json:
    """The breakers that have seen a failure."""
    return Json({"breakers": [presentation.breaker(row) for row in here.insights.breakers()]})


@router.get("/v1/rates", responses=sends(models.Rates))
def rates(here: Here) -> Json:
    """What is spent and left of each quota that was used."""
    return Json({"rates": [presentation.rate(row) for row in here.insights.rates()]})


@router.get("/v1/permits", responses=sends(models.Permits))
def permits(here: Here) -> Json:
    """The live leases under each concurrency limit that was used."""
    return Json({"permits": [presentation.permit(row) for row in here.insights.permits()]})


@router.post("/v1/breakers/{name}/reset", responses=sends(models.ResetBreaker))
def reset_breaker(here: Here, name: Name) -> Json:
    """Close a breaker and forget its failures."""
    was = here.control.reset_breaker(name)
    here.target = name
    return Json({"breaker": name, "was": presentation.breaker(was)})
