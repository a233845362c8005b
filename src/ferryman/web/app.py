"""Builds the ASGI application: the API under `/v1`, health, and what else is included here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from ferryman.ferry import Ferry
from ferryman.service.store import open_store
from ferryman.web import pages
from ferryman.web.envelope import Envelope
from ferryman.web.guard import Guarded
from ferryman.web.problems import on_error
from ferryman.web.routes import (
    audit,
    bulk,
    events,
    health,
    history,
    jobs,
    keys,
    me,
    metrics,
    push,
    queues,
    runs,
    schedules,
    session,
    workers,
)
from ferryman.web.site import Site

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.queue.contract import Backend

ROUTERS: Final[Sequence[APIRouter]] = (
    health.router,
    history.router,
    metrics.router,
    me.router,
    queues.router,
    jobs.router,
    runs.router,
    schedules.router,
    workers.router,
    push.router,
    bulk.router,
    events.router,
    session.router,
    keys.router,
    audit.router,
    pages.router,
)
RATE: Final = 100.0
"""Requests a second for each visitor, and for each address."""


def asgi(
    store: Ferry | Backend | str,
    *,
    token: str | None = None,
    environment: str | None = None,
    rate: float = RATE,
) -> FastAPI:
    """An ASGI application for one store, to be served or mounted under any path.

    From a `Ferry` it takes the tasks too, if it has any: pushes are then checked, and capacities
    hold. It is
    closed: visitors need an API key of the store, a session, or `token`, which may do everything.
    `environment` is a label that people see; `rate` is requests a second.
    """
    if isinstance(store, Ferry):
        site = Site(
            store.backend,
            store.tasks if len(store.tasks) else None,
            store.capacities,
            token=token,
            environment=environment,
            rate=rate,
            events=store.events,
        )
    else:
        backend = open_store(store, create=True) if isinstance(store, str) else store
        site = Site(backend, None, None, token=token, environment=environment, rate=rate)
    app = FastAPI(
        title="Ferryman",
        version="1",
        summary="Jobs, queues, runs, schedules and workers of one store.",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        middleware=[Middleware(Envelope)],
        exception_handlers={HTTPException: on_error, RequestValidationError: on_error},
    )
    app.state.site = site
    for router in ROUTERS:
        if not all(isinstance(route, Guarded) for route in router.routes):
            raise TypeError(f"every route is made by a router with route_class=Guarded: {router}")
        app.include_router(router)
    return app
