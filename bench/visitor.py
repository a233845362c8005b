"""One visitor of a server: a connection that is kept, and what is asked over it."""

from __future__ import annotations

import json
from http.client import HTTPConnection, RemoteDisconnected
from typing import Any, Final
from urllib.parse import quote, urlencode

TIMEOUT: Final = 60.0


class Visitor:
    """For one thread at a time. An answer that is no success is an error."""

    def __init__(self, port: int, headers: dict[str, str]) -> None:
        self.port = port
        self.headers = headers
        self._connection = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)

    @classmethod
    def logged_in(cls, port: int, token: str) -> Visitor:
        """With a session cookie instead of the token."""
        connection = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
        connection.request(
            "POST",
            "/v1/session",
            json.dumps({"token": token}),
            {"Content-Type": "application/json"},
        )
        answer = connection.getresponse()
        cookie = (answer.getheader("set-cookie") or "").partition(";")[0]
        answer.read()
        connection.close()
        if not cookie:
            raise RuntimeError(f"no session: HTTP {answer.status}")
        return cls(port, {"Cookie": cookie})

    def another(self) -> Visitor:
        """The same one over a connection of its own."""
        return Visitor(self.port, self.headers)

    def get(self, target: str) -> Any:
        """The answer to a path with its query."""
        return json.loads(self.fetch(target))

    def fetch(self, target: str) -> bytes:
        """The same as it came."""
        try:
            self._connection.request("GET", target, headers=self.headers)
            answer = self._connection.getresponse()
        except (RemoteDisconnected, ConnectionError):
            # The server closes connections that were idle for long, as every server does.
            self._connection.close()
            self._connection.request("GET", target, headers=self.headers)
            answer = self._connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"GET {target}: HTTP {answer.status} {body[:300]!r}")
        return body

    def close(self) -> None:
        self._connection.close()


def target(path: str, **query: object) -> str:
    """A path below /v1 with its query."""
    given = {name: value for name, value in query.items() if value is not None}
    return f"/v1/{quote(path)}{f'?{urlencode(given)}' if given else ''}"
