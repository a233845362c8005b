"""Errors as `application/problem+json`: what happened, to whom, and what to do (RFC 9457)."""

from __future__ import annotations

import logging
import traceback
from http import HTTPStatus
from math import ceil
from typing import TYPE_CHECKING, Any, Final

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from ferryman import errors
from ferryman.service.control import OutOfReach
from ferryman.service.push_quota import PushesSpent
from ferryman.service.redaction import redacted_filter
from ferryman.web.answers import Json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.requests import Request

LOGGER: Final = logging.getLogger("ferryman.web")
MEDIA_TYPE: Final = "application/problem+json"


class Problem(Exception):
    """An answer that is not what was asked for. `more` are further members of the document."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        hint: str | None = None,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.hint = hint
        self.headers = headers
        self.more = more

    def answer(self) -> Json:
        phrase = HTTPStatus(self.status).phrase
        document: dict[str, Any] = {
            "type": "about:blank",
            "title": phrase,
            "status": self.status,
            "detail": str(self),
            "code": self.code,
        }
        if self.hint is not None:
            document["hint"] = self.hint
        return Json(
            {**document, **self.more},
            status_code=self.status,
            headers=self.headers,
            media_type=MEDIA_TYPE,
        )


# The first class that fits decides; `QueueFull` and what the framework raises are told apart below.
_MEANINGS: Final[Sequence[tuple[tuple[type[Exception], ...], int, str]]] = (
    ((errors.NotFound,), 404, "not_found"),
    ((errors.InvalidMessage, errors.InvalidFilter, errors.TaskError), 422, "invalid"),
    ((OutOfReach,), 403, "out_of_reach"),
    ((errors.NotAllowed,), 409, "not_allowed"),
    ((errors.Conflict,), 409, "conflict"),
    ((errors.Unsupported,), 501, "unsupported"),
    ((errors.OutcomeUnknown,), 503, "outcome_unknown"),
    ((errors.BackendUnavailable,), 503, "store_unavailable"),
    ((errors.BackendError,), 503, "store_refused"),
    ((errors.FerrymanError,), 400, "refused"),
)
_HINTS: Final = {
    "outcome_unknown": "it happened zero or one times: send it again with the same id",
    "store_unavailable": "try again in a moment; GET /healthz?verbose says more",
    "unsupported": "GET /v1/me lists what this store can do",
}


def problem_of(error: Exception, request_id: str = "") -> Problem:
    """What an error means to whoever asked. Those that nobody foresaw are logged."""
    if isinstance(error, Problem):
        return error
    if isinstance(error.__cause__, Problem):
        return error.__cause__
    if isinstance(error, RequestValidationError):
        return _invalid(error)
    if isinstance(error, HTTPException):
        return _of_framework(error)
    if isinstance(error, errors.QueueFull):
        return Problem(
            429,
            "queue_full",
            str(error),
            hint="wait as long as Retry-After says; the queue takes more when jobs have run",
            headers={"Retry-After": str(max(1, ceil(error.retry_after)))},
            refused=list(error.ids),
        )
    if isinstance(error, PushesSpent):
        return Problem(
            429,
            "key_pushes",
            str(error),
            hint="nothing was pushed; wait as long as Retry-After says, or use another key",
            headers={"Retry-After": str(max(1, ceil(error.retry_after)))},
        )
    for kinds, status, code in _MEANINGS:
        if isinstance(error, kinds):
            detail = redacted_filter(str(error))
            headers = {"Retry-After": "1"} if code == "store_unavailable" else None
            return Problem(status, code, detail, hint=_HINTS.get(code), headers=headers)
    return _unforeseen(error, request_id)


async def on_error(request: Request, error: Exception) -> Json:
    """For what happens outside of any route: unknown paths and methods."""
    return problem_of(error).answer()


def _invalid(error: RequestValidationError) -> Problem:
    # Only where and why: what was sent may be a secret.
    found = [(".".join(map(str, one["loc"])), str(one["msg"])) for one in error.errors()]
    return Problem(
        422,
        "invalid",
        "; ".join(f"{place}: {why}" for place, why in found[:5]),
        errors=[{"place": place, "problem": why} for place, why in found[:20]],
    )


def _of_framework(error: HTTPException) -> Problem:
    detail, code = str(error.detail), HTTPStatus(error.status_code).name.lower()
    hint = None
    if error.status_code == 404:
        detail, hint = "there is nothing at this address", "GET /openapi.json lists what there is"
    elif error.status_code == 405:
        detail = "this address does not take that method"
    return Problem(error.status_code, code, detail, hint=hint, headers=error.headers)


def _unforeseen(error: Exception, request_id: str) -> Problem:
    # Without its text and without values: they may hold what no log may show.
    frames = traceback.extract_tb(error.__traceback__)
    where = " < ".join(f"{frame.name}:{frame.lineno}" for frame in reversed(frames[-6:]))
    LOGGER.error("request %s failed: %s at %s", request_id, type(error).__name__, where)
    return Problem(
        500,
        "internal",
        "the server made a mistake",
        hint=f"look for request {request_id} in its log" if request_id else None,
    )
