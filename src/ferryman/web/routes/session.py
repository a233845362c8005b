"""Sessions of browsers."""

from __future__ import annotations

from fastapi import Request, Response
from pydantic import BaseModel, ConfigDict, Field

from ferryman.web import models
from ferryman.web.access.sessions import LENGTH, cookie_name
from ferryman.web.answers import Json
from ferryman.web.guard import Here
from ferryman.web.openapi import sends
from ferryman.web.routes.names import guarded_router

router = guarded_router("access")


class Login(BaseModel):
    """A key, the server's token, or the token of the link that `ferryman serve` prints."""

    model_config = ConfigDict(extra="forbid")
    token: str = Field(min_length=1, max_length=500)


@router.post("/v1/session", status_code=201, responses=sends(models.Session, 201))
def log_in(here: Here, request: Request, login: Login) -> Json:
    """Exchange a token for a session cookie."""
    address = request.client.host if request.client else "unknown"
    secret, here.visitor = here.site.door.exchange(login.token, address)
    answer = Json({"expires_in": int(LENGTH)}, status_code=201)
    answer.set_cookie(
        cookie_name(request),
        secret,
        max_age=int(LENGTH),
        path=request.scope.get("root_path") or "/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
    return answer


@router.delete("/v1/session", status_code=204)
def log_out(here: Here, request: Request) -> Response:
    """End the session."""
    here.site.door.leave(here.visitor)
    here.site.feed.expel()
    answer = Response(status_code=204)
    answer.delete_cookie(cookie_name(request), path=request.scope.get("root_path") or "/")
    return answer
