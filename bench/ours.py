"""Ferryman by its public names: `task.push`, `task.push_many`, `ferry.worker` as they come."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar, Final, cast

from bench.contender import QUEUE, Cycling
from ferryman import Ferry, Message, State
from ferryman.lifecycle import Verdict
from ferryman.queue.settlement import Settlement

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from threading import Event

    from bench.contender import Handler, Payload

SLOTS: Final = 1
"""A job that does nothing gains nothing from a second thread."""
LEASE: Final = 60.0
WORKER: Final = "bench"


class Ours(Cycling):
    """One store named by a URL, with default settings; `{folder}` in it stands for the folder."""

    url: ClassVar[str]

    def __init__(self, folder: Path, handle: Handler) -> None:
        super().__init__(folder, handle)
        self.ferry = Ferry(self.url.format(folder=folder))
        self._turn = 0

        @self.ferry.task(name="noop", queue=QUEUE)
        def noop(payload: dict) -> None:  # type: ignore[type-arg]
            handle(payload)

        self.task = noop
        # The store is opened and its schema made before any clock starts.
        self.backend = self.ferry.backend

    def push(self, payload: Payload) -> None:
        self.task.push(payload)

    def push_many(self, payloads: Sequence[Payload]) -> None:
        self.task.push_many(payloads)

    def prepare(self, payloads: Sequence[Payload]) -> Sequence[object]:
        return [self.task.message(payload) for payload in payloads]

    def cycle(self, prepared: Sequence[object]) -> int:
        self.backend.push(cast("Sequence[Message]", prepared))
        return self.finish(len(prepared))[0]

    def finish(self, limit: int) -> tuple[int, float]:
        """Claim and complete jobs; how many, and the seconds that the claim took."""
        self._turn += 1
        queues = {QUEUE: limit}
        started = time.perf_counter()
        jobs = self.backend.poll(WORKER, queues, lease=LEASE, turn=self._turn)
        seconds = time.perf_counter() - started
        self.backend.settle([Settlement.of(job, Verdict.ACK) for job in jobs])
        return len(jobs), seconds

    def unfinished(self) -> int:
        snapshot = self.backend.snapshot()
        return snapshot.count(State.PENDING) + snapshot.count(State.PROCESSING)

    def work(self, stop: Event) -> None:
        worker = self.ferry.worker({QUEUE: SLOTS})
        worker.start()
        stop.wait()
        worker.join()
        if worker.error is not None:
            raise worker.error

    def close(self) -> None:
        self.ferry.close()


class OursInMemory(Ours):
    url = "memory://"
    processes = False


class OursOnSqlite(Ours):
    url = "sqlite:///{folder}/jobs.db"
