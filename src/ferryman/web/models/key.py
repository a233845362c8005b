"""API keys."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel

from ferryman.service.roles import Role


class Key(BaseModel):
    """A key without its secret; `queues` is null for all of them."""

    id: str
    name: str
    role: Role
    queues: list[str] | None
    created_at: datetime
    expires_at: datetime | None


class Keys(BaseModel):
    """The keys that can be used, by name."""

    keys: list[Key]


class MadeKey(Key):
    """A new key; its `secret` is never shown again."""

    secret: str
