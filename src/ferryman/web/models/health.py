"""Whether the server can do its work."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel


class Health(BaseModel):
    """`parts` are what the server and the store say, where that was asked for."""

    status: Literal["ok", "unavailable"]
    parts: dict[Literal["server", "store"], str] | None = None
