"""A small HTTP server of this process, which counts and can misbehave."""

from __future__ import annotations

import json
import threading
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qsl, unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType


@dataclass(frozen=True, slots=True)
class Request:
    """What a client asked; `whole` unless it went away before its body ended."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    whole: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What it gets. `cut`: the connection ends after half of the body; `slow`: seconds before."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False
    slow: float = 0.0

    @classmethod
    def json(cls, value: Any, status: int = 200, **headers: str) -> Answer:
        body = json.dumps(value, ensure_ascii=False).encode()
        return cls(status, body, {"Content-Type": "application/json", **headers})


class StandIn(ABC):
    """A service on a free port of loopback while the block runs."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self.answer))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @abstractmethod
    def answer(self, request: Request) -> Answer:
        """What the service does about a request."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, answer: Callable[[Request], Answer], *connection: Any) -> None:
        self._answer = answer
        super().__init__(*connection)  # which serves it all at once

    def do_GET(self) -> None:
        self._serve()

    def do_PUT(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def handle(self) -> None:
        try:
            super().handle()
        except (ConnectionError, TimeoutError):
            self.close_connection = True  # the client was killed

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        parts = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        whole = len(body) == length
        query = dict(parse_qsl(parts.query))
        path = unquote(parts.path)
        answer = self._answer(Request(self.command, path, query, headers, body, whole))
        if answer.slow:
            time.sleep(answer.slow)
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if answer.cut:
            self.wfile.write(answer.body[: len(answer.body) // 2])
            self.close_connection = True
        else:
            self.wfile.write(answer.body)
