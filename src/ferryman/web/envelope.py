"""What goes around every request: an id, a limit to its size, headers that keep browsers safe."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from ferryman.ids import new_id
from ferryman.web.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY: Final = 9 << 20
"""Bytes: a payload of 8 MiB and its options."""
SLASH: Final = "\x1f"
"""Stands for an encoded slash inside a part of a path; no name can hold it."""

_GIVEN_ID: Final = re.compile(rb"[\w.\-]{1,64}")
_HEADERS: Final[Mapping[bytes, bytes]] = {
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'",
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"permissions-policy": b"camera=(), geolocation=(), microphone=()",
    b"cache-control": b"no-store",
}


class Envelope:
    """Wraps the whole application. A header that an answer has already is left as it is."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(scope)
        inner = {**scope, "ferryman.request_id": request_id, "path": _path(scope)}

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": _sealed(message, request_id)}
            await send(message)

        if _announced(scope) > MAX_BODY:
            await _too_large().answer()(inner, receive, sealed)
            return
        await self._app(inner, _limited(receive), sealed)


def _request_id(scope: Scope) -> str:
    given = dict(scope["headers"]).get(b"x-request-id", b"")
    return given.decode() if _GIVEN_ID.fullmatch(given) else new_id()


def _path(scope: Scope) -> str:
    """The path with encoded slashes kept apart from those that divide it: `24%2F7` is a name."""
    raw: bytes = scope.get("raw_path") or b""
    if b"%2f" not in raw.lower():
        return str(scope["path"])
    parts = raw.decode("ascii", "replace").split("/")
    return "/".join(unquote(part).replace("/", SLASH) for part in parts)


def _announced(scope: Scope) -> int:
    length = dict(scope["headers"]).get(b"content-length", b"0")
    return int(length) if length.isdigit() else 0


def _limited(receive: Receive) -> Receive:
    """A body may come without its length: then it is counted."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > MAX_BODY:
            raise _too_large()
        return message

    return counted


def _too_large() -> Problem:
    return Problem(
        413,
        "too_large",
        f"the body is over {MAX_BODY:,} bytes",
        hint="store it elsewhere and push a reference, or push fewer jobs at a time",
    )


def _sealed(message: Any, request_id: str) -> list[tuple[bytes, bytes]]:
    headers = [*message["headers"]]
    known = {name.lower() for name, _ in headers}
    headers += [(name, value) for name, value in _HEADERS.items() if name not in known]
    return [*headers, (b"x-request-id", request_id.encode())]
