"""Talks to a server over real HTTP, and lets a test see everything that was sent."""

from __future__ import annotations

import json
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote, urlencode


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def code(self) -> str:
        """Of a problem document."""
        assert self.headers["content-type"] == "application/problem+json", self.text
        return str(self.json["code"])


class Client:
    """One visitor; `headers` go with every request."""

    def __init__(self, port: int, headers: dict[str, str] | None = None, base: str = "") -> None:
        self.port = port
        self.headers = headers or {}
        self.base = base

    def using(self, **headers: str) -> Client:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return Client(self.port, {**self.headers, **named}, self.base)

    def get(self, path: str, **query: Any) -> Answer:
        return self.send("GET", path, query=query)

    def post(self, path: str, body: Any = None, **headers: str) -> Answer:
        return self.using(**headers).send("POST", path, body=body)

    def delete(self, path: str) -> Answer:
        return self.send("DELETE", path)

    def send(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, Any] | None = None,
        body: Any = None,
        read: bool = True,
    ) -> Answer:
        """`read` False is for streams without an end: only what comes before the body."""
        given = {name: value for name, value in (query or {}).items() if value is not None}
        target = self.base + path + (f"?{urlencode(given)}" if given else "")
        headers = dict(self.headers)
        data = body if isinstance(body, bytes) else None
        if body is not None and data is None:
            data = json.dumps(body).encode()
        if data is not None:
            headers.setdefault("Content-Type", "application/json")
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, target, data, headers)
            response = connection.getresponse()
            text = response.read().decode() if read else ""
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, text)
        finally:
            connection.close()


def part(name: str) -> str:
    """A name as one part of a path."""
    return quote(name, safe="")


class Stream:
    """A stream of server-sent events, read one by one."""

    def __init__(self, client: Client, path: str = "/v1/events", **headers: str) -> None:
        self._connection = HTTPConnection("127.0.0.1", client.port, timeout=30)
        self._connection.request("GET", client.base + path, headers=client.using(**headers).headers)
        self.response = self._connection.getresponse()

    def next(self) -> tuple[str, Any]:
        """The id and the data of the next event; comments are passed over."""
        fields: dict[str, str] = {}
        while True:
            line = self.response.readline().decode()
            assert line, "the stream has ended"
            name, _, value = line.strip().partition(": ")
            if name:
                fields[name] = value
            elif "data" in fields:
                return fields["id"], json.loads(fields["data"])
            else:
                fields = {}

    def rest(self) -> bytes:
        """All that comes until the server ends it."""
        return self.response.read()

    def close(self) -> None:
        self.response.close()
        self._connection.close()
