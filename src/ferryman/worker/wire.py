"""JSON messages between a worker and one of its child processes, one a line. Never pickle."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from dataclasses import fields
from typing import Any, Final

from ferryman.job import Job, State

_FIELDS: Final = tuple(f.name for f in fields(Job) if f.name not in ("run", "errors", "logs"))


class Wire:
    """One end of the line. Any thread may send, one receives; each message has a `say`."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._incoming = line.makefile("rb")
        self._sending = threading.Lock()

    def send(self, say: str, **content: Any) -> None:
        """`OSError` if the other side is gone."""
        text = json.dumps({"say": say, **content})
        with self._sending:
            self._line.sendall(text.encode() + b"\n")

    def receive(self) -> dict[str, Any] | None:
        """The next message; None when the other side has hung up, even in mid-word."""
        try:
            text = self._incoming.readline()
        except OSError:
            return None
        if not text.endswith(b"\n"):
            return None
        message: dict[str, Any] = json.loads(text)
        return message

    def hang_up(self) -> None:
        """End the line for both sides; a `receive` that waits anywhere returns."""
        with contextlib.suppress(OSError):
            self._line.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._incoming.close()
        self._line.close()


def job_to_json(job: Job) -> dict[str, Any]:
    """All that a poll answers."""
    told = {name: getattr(job, name) for name in _FIELDS}
    told["meta"] = dict(job.meta)
    return told


def job_from_json(told: dict[str, Any]) -> Job:
    return Job(**{**told, "state": State(told["state"])})
