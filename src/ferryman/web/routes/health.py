"""Whether the server lives, and whether it can do its work."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from ferryman.errors import BackendError
from ferryman.service import presentation
from ferryman.service.doctor import examine
from ferryman.telemetry.escape import without_credentials
from ferryman.web import models
from ferryman.web.answers import Json
from ferryman.web.guard import Here
from ferryman.web.openapi import sends
from ferryman.web.routes.names import guarded_router
from ferryman.web.site import Site

router = guarded_router("health")

_READY = sends(models.Health) | sends(models.Health, 503)


@router.get("/livez", responses=sends(models.Health))
async def livez() -> Json:
    """Whether the server answers at all; says nothing about the store."""
    return Json({"status": "ok"})


@router.get("/readyz", responses=_READY)
def readyz(here: Here) -> Json:
    """Whether the store answers and no shutdown is under way; else 503."""
    return _ready(here.site, verbose=False)


@router.get("/healthz", responses=_READY)
def healthz(
    here: Here, verbose: Annotated[str | None, Query(description="Say what is wrong.")] = None
) -> Json:
    """The same as `/readyz`; with `verbose` also what each part says."""
    return _ready(here.site, verbose=verbose is not None)


@router.get("/v1/health", responses=sends(models.Findings))
def health(here: Here) -> Json:
    """What `ferryman doctor` finds."""
    found = examine(here.site.backend, look=here.site.look)
    return Json({"findings": [presentation.finding(one) for one in found]})


def _ready(site: Site, *, verbose: bool) -> Json:
    parts = {"server": "draining" if site.draining else "ok", "store": "ok"}
    try:
        # Anybody may ask this: a count that takes long is not made for each.
        site.look.snapshot()
    except BackendError as error:
        parts["store"] = without_credentials(str(error)) if verbose else "unavailable"
    ok = set(parts.values()) == {"ok"}
    answer = {"status": "ok" if ok else "unavailable", **({"parts": parts} if verbose else {})}
    return Json(answer, status_code=200 if ok else 503)
