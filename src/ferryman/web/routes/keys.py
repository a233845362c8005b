"""API keys."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field

from ferryman.message import MAX_NAME, MAX_SECONDS
from ferryman.service import presentation
from ferryman.service.roles import Role
from ferryman.web import models
from ferryman.web.answers import Json
from ferryman.web.guard import Here
from ferryman.web.openapi import sends
from ferryman.web.routes.names import guarded_router

router = guarded_router("access")


class NewKey(BaseModel):
    """`queues` null: all of them; `expires` are seconds.

    `rate` is requests to each server, such as `10/s` or `100/10s`; `pushes` is jobs, such as
    `1000/d`. Null is any number.
    """

    model_config = ConfigDict(extra="forbid")
    name: str = Field(min_length=1, max_length=MAX_NAME)
    role: Role
    queues: list[str] | None = Field(default=None, min_length=1, max_length=1_000)
    expires: float | None = Field(default=None, gt=0, le=MAX_SECONDS)
    rate: str | None = Field(default=None, max_length=20)
    pushes: str | None = Field(default=None, max_length=20)


@router.get("/v1/keys", responses=sends(models.Keys))
def keys(here: Here) -> Json:
    """The API keys that can be used, without their secrets."""
    known = here.site.door.keys
    found = [presentation.api_key(key, known.pushes_left(key)) for key in known.list()]
    return Json({"keys": found})


@router.post("/v1/keys", status_code=201, responses=sends(models.MadeKey, 201))
def create_key(here: Here, key: NewKey) -> Json:
    """Make an API key. Its `secret` is in this answer and nowhere else."""
    known = here.site.door.keys
    made, secret = known.create(**key.model_dump())
    here.target = made.id
    shown = presentation.api_key(made, known.pushes_left(made))
    return Json({**shown, "secret": secret}, status_code=201)


@router.delete("/v1/keys/{key_id}", responses=sends(models.Key))
def revoke_key(
    here: Here, key_id: Annotated[str, Path(max_length=100, description="The key's id.")]
) -> Json:
    """Make a key worthless, within a second on every server."""
    here.target = key_id
    revoked = here.site.door.keys.revoke(key_id)
    here.site.feed.expel()
    return Json(presentation.api_key(revoked))
