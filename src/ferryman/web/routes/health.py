"""Whether the server lives, and whether it can do its work."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request

from ferryman.errors import BackendError
from ferryman.service import presentation
from ferryman.service.doctor import examine
from ferryman.telemetry.redaction import redacted_text
from ferryman.web import models
from ferryman.web.answers import Json
from ferryman.web.guard import Here
from ferryman.web.openapi import sends
from ferryman.web.routes.names import guarded_router
from ferryman.web.site import Site

router = guarded_router("health")

_READY = sends(models.Health) | sends(models.Health, 503)


@router.head("/livez", include_in_schema=False)
@router.get("/livez", responses=sends(models.Health))
async def livez() -> Json:
    """Whether the server answers at all; says nothing about the store."""
    return Json({"status": "ok"})


@router.head("/readyz", include_in_schema=False)
@router.get("/readyz", responses=_READY)
def readyz(here: Here) -> Json:
    """Whether the store answers and no shutdown is under way; else 503."""
    return _ready(here.site, verbose=False)


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz", responses=_READY)
def healthz(
    here: Here,
    request: Request,
    verbose: Annotated[str | None, Query(description="Say what is wrong.")] = None,
) -> Json:
    """The same as `/readyz`; with `verbose` also which part it is.

    What a part says in its own words, which may name places, is for visitors with credentials.
    """
    if verbose is None:
        return _ready(here.site, verbose=False)
    return _ready(here.site, verbose=True, known=here.site.door.recognises(request))


@router.get("/v1/health", responses=sends(models.Findings))
def health(here: Here) -> Json:
    """What `ferryman doctor` finds."""
    found = examine(here.site.backend, look=here.site.look)
    return Json({"findings": [presentation.finding(one) for one in found]})


def _ready(site: Site, *, verbose: bool, known: bool = False) -> Json:
    parts = {"server": "draining" if site.draining else "ok", "store": "ok"}
    try:
        # Anybody may ask this: a count that takes long is not made for each.
        site.look.snapshot()
    except BackendError as error:
        parts["store"] = redacted_text(str(error)) if known else "unavailable"
    ok = set(parts.values()) == {"ok"}
    answer = {"status": "ok" if ok else "unavailable", **({"parts": parts} if verbose else {})}
    return Json(answer, status_code=200 if ok else 503)
