"""API keys."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel

from ferryman.service.roles import Role


class Key(BaseModel):
    """A key without its secret; `queues` is null for all of them.

    `last_used_at` is right to a minute, null if that was not in the last year. `rate` and `pushes`
    are its limits, null for none; `pushes_left` is what it may push now, null also of a key that is
    revoked.
    """

    id: str
    name: str
    role: Role
    queues: list[str] | None
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    rate: str | None
    pushes: str | None
    pushes_left: int | None


class Keys(BaseModel):
    """The keys that can be used, by name."""

    keys: list[Key]


class MadeKey(Key):
    """A new key; its `secret` is never shown again."""

    secret: str
