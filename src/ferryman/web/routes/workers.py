"""Workers, and what limits all of them."""

from __future__ import annotations

from ferryman.service import presentation
from ferryman.web.answers import Json
from ferryman.web.guard import Here
from ferryman.web.routes.names import Name, guarded_router

router = guarded_router("workers")


@router.get("/v1/workers")
def workers(here: Here) -> Json:
    """The workers that showed themselves lately."""
    return Json({"workers": [presentation.worker(row) for row in here.insights.workers()]})


@router.get("/v1/breakers")
def breakers(here: Here) -> Json:
    """The breakers that have seen a failure."""
    return Json({"breakers": [presentation.breaker(row) for row in here.insights.breakers()]})


@router.get("/v1/rates")
def rates(here: Here) -> Json:
    """What is spent and left of each quota that was used."""
    return Json({"rates": [presentation.rate(row) for row in here.insights.rates()]})


@router.get("/v1/permits")
def permits(here: Here) -> Json:
    """The live leases under each concurrency limit that was used."""
    return Json({"permits": [presentation.permit(row) for row in here.insights.permits()]})


@router.post("/v1/breakers/{name}/reset")
def reset_breaker(here: Here, name: Name) -> Json:
    """Close a breaker and forget its failures."""
    was = here.control.reset_breaker(name)
    here.target = name
    return Json({"breaker": name, "was": presentation.breaker(was)})
