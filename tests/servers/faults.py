"""What can happen to a request between a client and an S3 server; see `tests.servers.line`."""

from __future__ import annotations

import re
import time
from email.utils import formatdate
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from tests.servers.line import Reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.servers.line import Exchange

    Fault = Callable[[Exchange], None]


def error_before(status: int, code: str = "InternalError", message: str = "") -> Fault:
    """The server refuses and does nothing."""
    return lambda exchange: exchange.answer(refusal(status, code, message))


def error_after(status: int, code: str = "InternalError") -> Fault:
    """The server does it, and then says that it failed."""

    def act(exchange: Exchange) -> None:
        exchange.forward()
        exchange.answer(refusal(status, code))

    return act


def cut_before(exchange: Exchange) -> None:
    """The connection breaks before the server has the request."""
    exchange.cut()


def cut_after(exchange: Exchange) -> None:
    """The connection breaks before the answer."""
    exchange.forward()
    exchange.cut()


def cut_inside(exchange: Exchange) -> None:
    """The connection breaks in the middle of the answer."""
    reply = exchange.forward()
    exchange.answer(reply, cut=len(reply.body) // 2)


def silent_before(exchange: Exchange) -> None:
    """Nothing arrives and nothing comes back."""
    exchange.hold()


def silent_after(exchange: Exchange) -> None:
    """The server does it, and its answer never comes."""
    exchange.forward()
    exchange.hold()


def slow(seconds: float) -> Fault:
    """The answer takes its time."""

    def act(exchange: Exchange) -> None:
        time.sleep(seconds)
        exchange.answer(exchange.forward())

    return act


def twice(exchange: Exchange) -> None:
    """A gateway sends the request again and answers with what became of the second."""
    exchange.forward()
    exchange.answer(exchange.forward())


def pages_of(count: int) -> Fault:
    """Listings come in small pages, whatever was asked for."""

    def act(exchange: Exchange) -> None:
        path, _, query = exchange.path.partition("?")
        wanted = {**dict(parse_qsl(query)), "max-keys": str(count)}
        exchange.path = f"{path}?{urlencode(wanted)}"
        exchange.answer(exchange.forward())

    return act


def rewritten(pattern: bytes, by: bytes = b"") -> Fault:
    """The answer's body is changed on the way; its length is made to fit."""

    def act(exchange: Exchange) -> None:
        reply = exchange.forward()
        reply.body = re.sub(pattern, by, reply.body, flags=re.DOTALL)
        exchange.answer(reply)

    return act


def without(header: str) -> Fault:
    """A server that ignores a header, as many ignore conditions."""

    def act(exchange: Exchange) -> None:
        exchange.headers = [pair for pair in exchange.headers if pair[0].lower() != header.lower()]
        exchange.answer(exchange.forward())

    return act


def checked_first(exchange: Exchange) -> None:
    """A server that looks whether the condition holds and acts on it later."""
    conditions = {name.lower(): value for name, value in exchange.headers}
    exchange.headers = [pair for pair in exchange.headers if not pair[0].lower().startswith("if-")]
    now = exchange.forward("HEAD")
    etag = {name.lower(): value for name, value in now.headers}.get("etag")
    wanted = conditions.get("if-match")
    if ("if-none-match" in conditions and etag) or (wanted and wanted != etag):
        exchange.answer(refusal(412, "PreconditionFailed"))
        return
    time.sleep(0.05)
    exchange.answer(exchange.forward())


def dated(seconds: float) -> Fault:
    """A server whose clock is that far ahead of this machine's."""

    def act(exchange: Exchange) -> None:
        reply = exchange.forward()
        kept = [pair for pair in reply.headers if pair[0].lower() != "date"]
        reply.headers = [*kept, ("Date", formatdate(time.time() + seconds, usegmt=True))]
        exchange.answer(reply)

    return act


def refusal(status: int, code: str, message: str = "") -> Reply:
    """An error as S3 words it."""
    body = f"<Error><Code>{code}</Code><Message>{message or code}</Message></Error>"
    return Reply(status, [("Content-Type", "application/xml")], body.encode())
