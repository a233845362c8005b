"""A real backend behind a line that fails on command: before the call, or after it took effect."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, cast

from ferryman.errors import BackendUnavailable

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend


class Line:
    """`cut` makes every verb fail; `lose_reply` lets one verb work once and loses its answer."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._lost_replies: dict[str, int] = {}
        self._lock = threading.Lock()
        self.down = False
        self.calls: dict[str, int] = {}

    def lose_reply(self, verb: str, times: int = 1) -> None:
        self._lost_replies[verb] = times

    def __getattr__(self, verb: str) -> Any:
        real = getattr(self._backend, verb)
        if not callable(real) or verb == "wake":  # which never leaves the process
            return real

        def call(*args: Any, **kwargs: Any) -> Any:
            if self.down:
                raise BackendUnavailable(f"{verb}: the line is cut")
            answer = real(*args, **kwargs)
            with self._lock:
                self.calls[verb] = self.calls.get(verb, 0) + 1
                # An empty answer has nothing to lose.
                if answer and self._lost_replies.get(verb, 0) > 0:
                    self._lost_replies[verb] -= 1
                    raise BackendUnavailable(f"{verb}: the reply was lost")
            return answer

        return call


def as_backend(line: Line) -> Backend:
    return cast("Backend", line)
