"""Sessions of browsers: a secret cookie, of which the store keeps the hash."""

from __future__ import annotations

import json
import secrets
import threading
from typing import TYPE_CHECKING, Any, Final

from ferryman.service.api_keys import digest
from ferryman.service.roles import Role
from ferryman.web.access.visitor import TOKEN_HOLDER, Visitor

if TYPE_CHECKING:
    from starlette.requests import Request

    from ferryman.queue.contract import Backend
    from ferryman.service.api_keys import ApiKeys

LENGTH: Final = 12 * 3_600.0
"""Seconds after which one logs in again."""
SESSION_CELLS: Final = "session/"


def cookie_name(request: Request) -> str:
    """Browsers keep cookies by host alone: the dashboards of two ports would share one."""
    port = request.url.port
    return "ferryman_session" if port is None else f"ferryman_session_{port}"


class Sessions:
    """Kept in cells, so that every server of a store knows them; else in this process.

    One that was opened with an API key ends with that key, one that was opened with the server's
    token (of which `token` is the hash) where that is another.
    """

    def __init__(self, backend: Backend, keys: ApiKeys, token: str | None = None) -> None:
        self._backend = backend
        self._keys = keys
        self._token = token
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[float, str]] = {}

    def open(self, visitor: Visitor) -> str:
        """A new session; its secret."""
        secret = secrets.token_urlsafe(32)
        queues = None if visitor.queues is None else sorted(visitor.queues)
        value = json.dumps(
            {
                "name": visitor.name,
                "role": str(visitor.role),
                "queues": queues,
                "key_id": visitor.key_id,
                "token": self._mark(secret) if visitor == TOKEN_HOLDER else None,
            }
        )
        self._write(digest(secret), value)
        return secret

    def find(self, secret: str) -> Visitor | None:
        """Whose session it is, while it lasts."""
        text = self._read(digest(secret))
        if text is None:
            return None
        found: dict[str, Any] = json.loads(text)
        key_id, queues = found["key_id"], found["queues"]
        if key_id is not None:
            key = self._keys.get(key_id)
            return None if key is None else Visitor.with_key(key, secret)
        if found["name"] == TOKEN_HOLDER.name and found.get("token") != self._mark(secret):
            return None
        return Visitor(
            found["name"],
            Role(found["role"]),
            None if queues is None else frozenset(queues),
            session=secret,
        )

    def close(self, secret: str) -> None:
        """End a session."""
        self._write(digest(secret), None)

    def _mark(self, secret: str) -> str:
        """What a session keeps of the token: of no use to anybody without the session's secret."""
        return digest(f"{secret}:{self._token}")

    def _read(self, name: str) -> str | None:
        if self._backend.capabilities.cells:
            cells = self._backend.read_cells(SESSION_CELLS + name)
            return cells[0].value if cells else None
        with self._lock:
            until, text = self._kept.get(name, (0.0, ""))
        return text if until > self._backend.clock.monotonic() else None

    def _write(self, name: str, value: str | None) -> None:
        if self._backend.capabilities.cells:
            self._backend.write_cell(SESSION_CELLS + name, value, expect=None, ttl=LENGTH)
            return
        now = self._backend.clock.monotonic()
        with self._lock:
            self._kept = {key: kept for key, kept in self._kept.items() if kept[0] > now}
            if value is None:
                self._kept.pop(name, None)
            else:
                self._kept[name] = (now + LENGTH, value)
