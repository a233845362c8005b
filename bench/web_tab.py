"""One open tab of the dashboard: its stream of changes, and what its page asks because of them."""

from __future__ import annotations

import json
import threading
import time
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.visitor import Visitor
    from bench.web_pages import Ask

LOOK_EVERY: Final = 0.02


class Tab:
    """Follows the rules of data.js: at most one look each `every`, after a change or a beat."""

    def __init__(self, visitor: Visitor, asks: Sequence[Ask]) -> None:
        self._visitor = visitor.another()
        self._asks = [_Looked(ask) for ask in asks]
        self._stream = HTTPConnection("127.0.0.1", visitor.port, timeout=60.0)
        self._stream.request("GET", "/v1/events", headers=visitor.headers)
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._lock = threading.Lock()
        self._changed: set[str] = set()
        self.changes = 0

    def stay(self, seconds: float) -> None:
        """Keep the tab open for so long; the page asks once at the start."""
        self._listening.start()
        until = time.monotonic() + seconds
        for looked in self._asks:
            looked.look(self._visitor)
        while time.monotonic() < until:
            with self._lock:
                changed, self._changed = self._changed, set()
            for looked in self._asks:
                looked.hear(changed)
                if looked.due:
                    looked.look(self._visitor)
            time.sleep(LOOK_EVERY)

    def close(self) -> None:
        if self._stream.sock is not None:
            self._stream.sock.shutdown(2)
        self._listening.join()
        self._stream.close()
        self._visitor.close()

    def _listen(self) -> None:
        answer = self._stream.getresponse()
        while line := answer.readline():
            if line.startswith(b"data: "):
                with self._lock:
                    self._changed.update(json.loads(line[6:])["queues"])
                    self.changes += 1


class _Looked:
    """One thing that a page asks, and when it did last."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._at = self._beat = time.monotonic()
        self._wanted = False

    def hear(self, changed: set[str]) -> None:
        ask, now = self._ask, time.monotonic()
        if ask.live and (changed if ask.queue is None else ask.queue in changed):
            self._wanted = True
        if ask.beat and now >= self._beat + ask.beat:
            self._wanted, self._beat = True, now

    @property
    def due(self) -> bool:
        return self._wanted and time.monotonic() >= self._at + self._ask.every

    def look(self, visitor: Visitor) -> None:
        self._at, self._wanted = time.monotonic(), False
        visitor.fetch(self._ask.target)
