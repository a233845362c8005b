"""Every route of the server: nobody gets past it without the rule that the table has for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Request
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from ferryman.errors import BackendError
from ferryman.web.access.rules import RULES
from ferryman.web.problems import LOGGER, problem_of
from ferryman.web.site import Site, Visit

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from starlette.responses import Response


class Guarded(APIRoute):
    """A route that asks who is there before anything of the request is read.

    It cannot be made without a rule, and turns every error into a problem document.
    """

    def __init__(self, path: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(path, *args, **kwargs)
        names = [f"{method} {path}" for method in self.methods or ()]
        missing = [name for name in names if name not in RULES]
        if missing or len(names) != 1:
            raise TypeError(f"{missing or path}: each route needs one rule in web/access/rules.py")
        self.rule = RULES[names[0]]

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            site: Site = request.app.state.site
            request_id: str = request.scope.get("ferryman.request_id", "")
            try:
                visitor = site.door.recall(request, self.rule)
                if visitor is None:
                    visitor = await run_in_threadpool(site.door.look_up, request)
                site.door.admit(visitor, request, self.rule)
                request.state.visit = visit = Visit(
                    site, visitor, request_id, request.scope.get("root_path", "")
                )
                try:
                    response = await answer(request)
                finally:
                    # Whoever changes something sees it. A login is anybody's to try.
                    if self.rule.act and self.rule.role is not None:
                        site.look.forget()
            except Exception as error:
                return problem_of(error, request_id).answer()
            if self.rule.act and response.status_code < 400:
                await run_in_threadpool(_note, visit, self.rule.act)
            return response

        return guarded


def _note(visit: Visit, act: str) -> None:
    try:
        visit.note(act)
    except BackendError as error:
        # The change is made, and the log has the row: it must not look as if it had failed.
        LOGGER.warning("an audit row could not be stored: %s", type(error).__name__)


async def _visit(request: Request) -> Visit:
    visit: Visit = request.state.visit
    return visit


Here = Annotated[Visit, Depends(_visit)]
"""What a handler takes to know who asks, and what of the store they may see."""
