"""A line between a client and an HTTP server that fails on command.

    line = Line(server.address)
    line.fault(error_after(500), method="PUT", key="lease.json")

The faults are in `tests.servers.faults`; each acts on one `Exchange`.
"""

from __future__ import annotations

import http.client
import random
import socket
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import unquote, urlsplit

from tests.servers.kinds import HOST

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FOREVER: Final = 1 << 60


@dataclass
class Reply:
    """What a server answers."""

    status: int
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""


@dataclass
class Rule:
    """One fault and the requests that it meets."""

    fault: Callable[[Exchange], None]
    method: str | None
    key: str | None
    times: int
    chance: float

    def meets(self, method: str, path: str) -> bool:
        return (
            self.times > 0
            and self.method in (None, method)
            and (self.key is None or unquote(urlsplit(path).path).endswith(self.key))
        )


class Line:
    """Forwards everything; rules change what happens on the way. A seed that it drew is printed."""

    def __init__(
        self, upstream: str, seed: int | None = None, listening: socket.socket | None = None
    ) -> None:
        """`listening` is a bound socket, if others must know the address beforehand."""
        self.seed = random.randrange(1 << 32) if seed is None else seed
        if seed is None:
            print(f"line to {upstream}: seed {self.seed}")  # noqa: T201
        self.upstream = urlsplit(upstream)
        self.closing = threading.Event()
        self._chance = random.Random(self.seed)
        self._rules: list[Rule] = []
        self._lock = threading.Lock()
        self._server = _Listener(self, listening or _bound())
        self.address = f"http://{HOST}:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def fault(
        self,
        fault: Callable[[Exchange], None],
        *,
        method: str | None = None,
        key: str | None = None,
        times: int = 1,
        chance: float = 1.0,
    ) -> None:
        """Let a fault meet the next `times` requests of this method whose path ends with `key`."""
        with self._lock:
            self._rules.append(Rule(fault, method, key, times, chance))

    def storm(self, faults: Sequence[Callable[[Exchange], None]], chance: float) -> None:
        """Let every request meet one of these with this probability, until `calm`."""
        for fault in faults:
            self.fault(fault, times=FOREVER, chance=chance / len(faults))

    def calm(self) -> None:
        """Drop all rules."""
        with self._lock:
            self._rules.clear()

    def next_fault(self, method: str, path: str) -> Callable[[Exchange], None] | None:
        with self._lock:
            for rule in self._rules:
                if rule.meets(method, path) and self._chance.random() < rule.chance:
                    rule.times -= 1
                    return rule.fault
        return None

    def close(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Exchange:
    """One request on its way, for a fault to forward, answer, change or drop."""

    def __init__(self, line: Line, handler: BaseHTTPRequestHandler) -> None:
        self.line = line
        self.peer = handler.client_address
        self.method = handler.command
        self.path = handler.path
        self.headers = handler.headers.items()
        self.body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        self._handler = handler

    def forward(self, method: str | None = None) -> Reply:
        """Send the request to the server, as it now stands, and take the whole answer."""
        upstream = http.client.HTTPConnection(
            self.line.upstream.hostname or HOST, self.line.upstream.port, timeout=30
        )
        try:
            body = self.body if method is None else b""
            method = method or self.method
            # The original Host stays, or the signature would not fit.
            upstream.putrequest(method, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers:
                if name.lower() != "content-length":
                    upstream.putheader(name, value)
            upstream.putheader("Content-Length", str(len(body)))
            upstream.endheaders(body)
            answer = upstream.getresponse()
            return Reply(answer.status, answer.getheaders(), answer.read())
        finally:
            upstream.close()

    def answer(self, reply: Reply, *, cut: int | None = None) -> None:
        """Send a reply; `cut` ends it after that many bytes of its body."""
        handler = self._handler
        handler.send_response_only(reply.status)
        kept = [pair for pair in reply.headers if pair[0].lower() not in _HOP]
        for name, value in kept:
            handler.send_header(name, value)
        if reply.status not in (204, 304) and self.method != "HEAD":
            handler.send_header("Content-Length", str(len(reply.body)))
        elif self.method == "HEAD":
            for name, value in reply.headers:
                if name.lower() == "content-length":
                    handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(reply.body if cut is None else reply.body[:cut])
        if cut is not None:
            self.cut()

    def cut(self) -> None:
        """Close the connection."""
        self._handler.close_connection = True

    def hold(self) -> None:
        """Say nothing until the client gives up."""
        self._handler.connection.settimeout(0.02)
        while not self.line.closing.is_set():
            try:
                if not self._handler.connection.recv(1):
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        self.cut()


def _bound() -> socket.socket:
    found = socket.socket()
    found.bind((HOST, 0))
    return found


_HOP: Final = frozenset({"content-length", "transfer-encoding", "connection", "keep-alive"})


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, line: Line, listening: socket.socket) -> None:
        self.line = line
        super().__init__(listening.getsockname()[:2], _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listening
        self.server_activate()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is part of the test."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Listener
    # Many small writes would wait for each other's acknowledgement.
    wbufsize = -1
    disable_nagle_algorithm = True

    def handle_any(self) -> None:
        line = self.server.line
        exchange = Exchange(line, self)
        fault = line.next_fault(self.command, self.path)
        if fault is None:
            exchange.answer(exchange.forward())
        else:
            fault(exchange)
        self.wfile.flush()

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_any  # noqa: N815

    def handle_expect_100(self) -> bool:
        going_on = super().handle_expect_100()
        self.wfile.flush()
        return going_on

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """The tests say what matters."""
