"""Who asks, and what this server and its store can do."""

from __future__ import annotations

from dataclasses import asdict
from importlib.metadata import version

from fastapi import Request

from ferryman.web import models
from ferryman.web.answers import Json
from ferryman.web.guard import Here
from ferryman.web.openapi import described, sends
from ferryman.web.routes.names import guarded_router

router = guarded_router("me")


@router.get("/v1/me", responses=sends(models.Me))
def me(here: Here) -> Json:
    """The visitor's name and role, and the capabilities of the store."""
    capabilities = asdict(here.site.backend.capabilities)
    visitor = here.visitor
    return Json(
        {
            "name": visitor.name,
            "role": str(visitor.role),
            "queues": None if visitor.queues is None else sorted(visitor.queues),
            "backend": capabilities.pop("backend"),
            "environment": here.site.environment,
            "version": version("ferryman"),
            "capabilities": capabilities,
            "csrf": visitor.csrf,
        }
    )


@router.get("/openapi.json", include_in_schema=False)
def openapi(request: Request) -> Json:
    """The description of this API (OpenAPI 3.1)."""
    return Json(described(request.app))
