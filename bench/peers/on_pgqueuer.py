"""PgQueuer by asyncpg and uvloop, five hundred jobs a batch."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import asyncpg  # type: ignore[import-not-found]
import uvloop  # type: ignore[import-not-found]
from pgqueuer import PgQueuer  # type: ignore[import-not-found]
from pgqueuer.db import AsyncpgDriver  # type: ignore[import-not-found]
from pgqueuer.queries import Queries  # type: ignore[import-not-found]

from bench.contender import Contender
from bench.peers.own_database import database_for

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from threading import Event

    from bench.contender import Handler, Payload

BATCH: Final = 500


class Pgqueuer(Contender):
    """A finished job is deleted, and a line of its log is kept."""

    def __init__(self, folder: Path, handle: Handler) -> None:
        super().__init__(folder, handle)
        self._url = database_for(folder)
        self._loop = uvloop.new_event_loop()
        self._connection = self._run(asyncpg.connect(self._url))
        self._queries = Queries(AsyncpgDriver(self._connection))
        if not self._run(self._queries.has_table("pgqueuer")):
            self._run(self._queries.install())

    def push(self, payload: Payload) -> None:
        self._run(self._queries.enqueue("noop", json.dumps(payload).encode(), 0))

    def push_many(self, payloads: Sequence[Payload]) -> None:
        bodies = [json.dumps(payload).encode() for payload in payloads]
        names, priorities = ["noop"] * len(bodies), [0] * len(bodies)
        self._run(self._queries.enqueue(names, bodies, priorities))

    def unfinished(self) -> int:
        question = "SELECT count(*) FROM pgqueuer WHERE status IN ('queued', 'picked')"
        return int(self._run(self._connection.fetchval(question)))

    def work(self, stop: Event) -> None:
        uvloop.run(self._work(stop))

    def close(self) -> None:
        self._run(self._connection.close())
        self._loop.close()

    async def _work(self, stop: Event) -> None:
        connection = await asyncpg.connect(self._url)
        queue = PgQueuer(AsyncpgDriver(connection))

        @queue.entrypoint("noop")  # type: ignore[untyped-decorator]
        async def noop(job: Any) -> None:
            self.handle(json.loads(job.payload))

        running = asyncio.ensure_future(
            queue.run(batch_size=BATCH, dequeue_timeout=timedelta(seconds=5))
        )
        while not stop.is_set() and not running.done():  # noqa: ASYNC110 - a signal sets it
            await asyncio.sleep(0.1)
        running.cancel()

    def _run(self, awaitable: Any) -> Any:
        return self._loop.run_until_complete(awaitable)
