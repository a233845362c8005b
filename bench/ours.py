"""Ferryman by its public names: `task.push`, `task.push_many`, `ferry.worker` as they come."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar, Final, cast
from urllib.parse import quote

from bench.contender import QUEUE, Cycling
from bench.postgres_server import postgres_url, schema_of
from bench.sqs_server import prefix_of
from ferryman import Ferry, Message, State
from ferryman.lifecycle import Verdict
from ferryman.queue.open import open_backend
from ferryman.queue.settlement import Settlement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from threading import Event

    from bench.contender import Handler, Payload
    from ferryman import Job
    from ferryman.backends.s3 import StrictBackend

SLOTS: Final = 1
"""A job that does nothing gains nothing from a second thread."""
LEASE: Final = 60.0
WORKER: Final = "bench"
LOOK_EVERY: Final = 0.2


class Ours(Cycling):
    """One store named by a URL, with default settings; `{folder}` in it stands for the folder."""

    url: ClassVar[str]

    def __init__(self, folder: Path, handle: Handler) -> None:
        super().__init__(folder, handle)
        self.ferry = Ferry(self.address())
        self.claimed: Sequence[Job] = ()
        self._turn = 0

        @self.ferry.task(name="noop", queue=QUEUE)
        def noop(payload: dict) -> None:  # type: ignore[type-arg]
            handle(payload)

        self.task = noop
        # The store is opened and its schema made before any clock starts.
        self.backend = self.ferry.backend

    def address(self) -> str:
        """The store of this folder."""
        return self.url.format(folder=self.folder)

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
        started = time.perf_counter()
        self.claim(limit)
        seconds = time.perf_counter() - started
        return self.settle(), seconds

    def claim(self, limit: int) -> None:
        """Lease so many jobs, if they are there."""
        self._turn += 1
        self.claimed = self.backend.poll(WORKER, {QUEUE: limit}, lease=LEASE, turn=self._turn)

    def settle(self) -> int:
        """Complete what was claimed; how many."""
        jobs, self.claimed = self.claimed, ()
        self.backend.settle([Settlement.of(job, Verdict.ACK) for job in jobs])
        return len(jobs)

    def unfinished(self) -> int:
        snapshot = self.backend.snapshot()
        return snapshot.count(State.PENDING) + snapshot.count(State.PROCESSING)

    def work(self, stop: Event) -> None:
        worker = self.ferry.worker({QUEUE: SLOTS})
        worker.start()
        # A signal that came while the process was frozen may wake another thread than this one.
        while not stop.wait(LOOK_EVERY):
            pass
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


class OursOnFiles(Ours):
    url = "file://{folder}/queues"


class OursOnPostgresql(Ours):
    """The server is where `bench.postgres_server` leads; a schema for each folder."""

    url = "{server}?schema={schema}"

    def address(self) -> str:
        return self.url.format(server=postgres_url(), schema=schema_of(self.folder))


class OursOnS3(Ours):
    """Strict; the server is where the usual AWS settings lead."""

    url = "s3://ferryman-tests/b{folder.name}?root={folder}/root"

    def __init__(self, folder: Path, handle: Handler) -> None:
        super().__init__(folder, handle)
        # Not the one that the Ferry watches over: it tells how many requests it sent.
        self.backend = open_backend(self.address())

    def push_many(self, payloads: Sequence[Payload]) -> None:
        self.backend.push([self.task.message(payload) for payload in payloads])

    @property
    def requests(self) -> Mapping[str, int]:
        """Requests sent so far, by kind."""
        return cast("StrictBackend", self.backend).requests

    def close(self) -> None:
        self.backend.close()
        super().close()


class OursOnSqs(Ours):
    """Before a SQLite ledger; the server is where the usual AWS settings lead."""

    url = "sqs://us-east-1/{prefix}?create=1&ledger=sqlite%3A%2F%2F%2F{folder}%2Fledger.db"

    def address(self) -> str:
        return self.url.format(prefix=prefix_of(self.folder), folder=quote(str(self.folder), ""))


class OursOnSqsAlone(OursOnSqs):
    """Without a ledger."""

    url = "sqs://us-east-1/{prefix}?create=1"
