"""The loop beside the workers of a node that keeps its mirror of the shared store up to date."""

from __future__ import annotations

import random
import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from ferryman.errors import BackendError, Unsupported
from ferryman.events import Events
from ferryman.queue.open import open_backend, safe_url
from ferryman.queue.syncing import Mirrored

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferryman.queue.contract import Backend

INTERVAL: Final = 60.0
JITTER: Final = 0.1
LONGEST: Final = 600.0
"""Seconds between two passes at most, after many that failed."""


class Supervisor:
    """Syncs every `interval` seconds, ± 10 %; a pass that fails is reported and tried again later.

    Emits `sync.passed` with what a pass did and `sync.failed` with the error. One process of a
    node makes a pass at a time, so several supervisors of one root do no harm.
    """

    def __init__(
        self,
        url: str,
        *,
        interval: float = INTERVAL,
        node: str | None = None,
        events: Events | None = None,
    ) -> None:
        self.url = url
        self.interval = interval
        self.node = node or socket.gethostname()
        self.events = events or Events()
        self._backend: Backend | None = None
        self._stopped = threading.Event()
        self._failures = 0

    def once(self) -> Mapping[str, int | Sequence[str]]:
        """One pass now; raises what goes wrong."""
        backend = self._opened()
        if not isinstance(backend, Mirrored):
            raise Unsupported(
                f"{safe_url(self.url)}: {backend.capabilities.backend} keeps no local mirror, so "
                "there is nothing to sync; use s3://"
            )
        passed = backend.sync()
        backend.publish(self.node, {"passed": passed, "workers": self._workers(backend)})
        return passed

    def run(self) -> None:
        """Pass after pass, until `stop`."""
        while not self._stopped.is_set():
            try:
                passed = self.once()
            except BackendError as error:
                self._failures += 1
                self.events.emit("sync.failed", error=error, failures=self._failures)
            else:
                self._failures = 0
                self.events.emit("sync.passed", node=self.node, **passed)
            self._stopped.wait(self._pause())

    def stop(self) -> None:
        """Let `run` end after the pass that is under way."""
        self._stopped.set()

    def close(self) -> None:
        """Stop, and free the store's connections."""
        self.stop()
        backend, self._backend = self._backend, None
        if backend is not None:
            backend.close()

    @contextmanager
    def running(self) -> Iterator[Supervisor]:
        """Run in a thread beside the block."""
        thread = threading.Thread(target=self.run, name="ferryman-supervisor", daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.stop()
            thread.join()
            self.close()

    def _opened(self) -> Backend:
        # At the first pass: a store that is away when the node starts is like any other outage.
        if self._backend is None:
            self._backend = open_backend(self.url)
        return self._backend

    def _workers(self, backend: Backend) -> int:
        return len(backend.read_cells("worker/"))

    def _pause(self) -> float:
        pause = min(LONGEST, self.interval * 2.0 ** min(self._failures, 10))
        pause = max(self.interval, pause) if self._failures else self.interval
        return pause * random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311
