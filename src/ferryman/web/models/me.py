"""Who asks, and what this server and its store can do."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from ferryman.service.roles import Role


class StoreCapabilities(BaseModel):
    """What the store can hold: see the table in the docs of the contract."""

    durable: bool
    shared: bool
    order: Literal["strict", "strict per claim", "windowed", "by label"]
    transactional_push: bool
    fenced: bool
    max_delay: float | None
    browse: bool
    exact_counts: bool
    exact_capacity: bool
    tenants: bool
    served: bool
    cells: bool


class Me(BaseModel):
    """`queues` is null for all of them; `csrf` is what unsafe requests of a session carry."""

    name: str
    role: Role
    queues: list[str] | None
    backend: str
    environment: str | None
    version: str
    capabilities: StoreCapabilities
    csrf: str | None


class Session(BaseModel):
    """The cookie is in a header of the answer; it lasts so many seconds."""

    expires_in: int
