"""What Prometheus scrapes."""

from __future__ import annotations

from fastapi import Response

from ferryman.web.exposition import MEDIA_TYPE
from ferryman.web.guard import Here
from ferryman.web.routes.names import guarded_router

router = guarded_router("metrics")


@router.get("/metrics", response_class=Response, responses={200: {"content": {MEDIA_TYPE: {}}}})
def metrics(here: Here) -> Response:
    """The store's counts and, from a worker's own server, what it does."""
    return Response(here.site.metrics.text(), media_type=MEDIA_TYPE)
