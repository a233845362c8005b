"""A real HTTP service on loopback that counts: who came when, and how many were there at once."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Service(ThreadingHTTPServer):
    """Answers every GET with `status` after `hold` seconds, and keeps what it saw."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, *, hold: float = 0.0, status: int = 200) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.hold = hold
        self.status = status
        self.arrivals: list[float] = []
        self.most = 0
        self._inside = 0
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"

    @property
    def calls(self) -> int:
        return len(self.arrivals)

    def most_within(self, seconds: float) -> int:
        """The most calls that any window of this length saw."""
        moments, first, most = sorted(self.arrivals), 0, 0
        for last, moment in enumerate(moments):
            while moment - moments[first] >= seconds:
                first += 1
            most = max(most, last - first + 1)
        return most

    def come(self) -> None:
        with self._lock:
            self.arrivals.append(time.monotonic())
            self._inside += 1
            self.most = max(self.most, self._inside)

    def go(self) -> None:
        with self._lock:
            self._inside -= 1


class _Handler(BaseHTTPRequestHandler):
    server: Service

    def do_GET(self) -> None:
        self.server.come()
        try:
            time.sleep(self.server.hold)
        finally:
            # Before the answer: who has it may send another at once.
            self.server.go()
        try:
            self.send_response(self.server.status)
            self.send_header("Content-Length", "0")
            self.end_headers()
        except OSError:
            pass  # the caller was killed

    def log_request(self, code: object = "-", size: object = "-") -> None:
        pass


@contextmanager
def serving(*, hold: float = 0.0, status: int = 200) -> Iterator[Service]:
    with Service(hold=hold, status=status) as service:
        thread = threading.Thread(target=service.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield service
        finally:
            service.shutdown()
            thread.join()
