"""Who changed what."""

from __future__ import annotations

from ferryman.service import presentation
from ferryman.web import models
from ferryman.web.answers import Json
from ferryman.web.guard import Here
from ferryman.web.openapi import sends
from ferryman.web.routes.names import After, Limit, guarded_router

router = guarded_router("audit")


@router.get("/v1/audit", responses=sends(models.AuditPage))
def audit(here: Here, limit: Limit = 50, after: After = None) -> Json:
    """Every change that was made through this API, newest first; kept for 90 days."""
    return Json(presentation.audit(here.site.audit.page(limit=limit, after=after)))
