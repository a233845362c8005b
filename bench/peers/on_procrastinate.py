"""Procrastinate: pushed by its synchronous connector, worked on by fifty coroutines."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import psycopg  # type: ignore[import-not-found,unused-ignore]
from procrastinate import (  # type: ignore[import-not-found]
    App,
    PsycopgConnector,
    SyncPsycopgConnector,
)

from bench.contender import Contender
from bench.peers.own_database import database_for

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from threading import Event

    from bench.contender import Handler, Payload

CONCURRENCY: Final = 50


class Procrastinate(Contender):
    """A finished job is deleted."""

    def __init__(self, folder: Path, handle: Handler) -> None:
        super().__init__(folder, handle)
        self._url = database_for(folder)
        self._app: Any = App(connector=SyncPsycopgConnector(conninfo=self._url))
        self._app.open()
        self._noop: Any = self._app.task(name="noop")(lambda payload: None)
        self._eye: Any = psycopg.connect(self._url, autocommit=True)
        self._eye.execute("SELECT pg_advisory_lock(2)")
        [(table,)] = self._eye.execute("SELECT to_regclass('procrastinate_jobs')").fetchall()
        if table is None:
            self._app.schema_manager.apply_schema()
        self._eye.execute("SELECT pg_advisory_unlock(2)")

    def push(self, payload: Payload) -> None:
        self._noop.defer(payload=payload)

    def push_many(self, payloads: Sequence[Payload]) -> None:
        self._noop.batch_defer(*({"payload": payload} for payload in payloads))

    def unfinished(self) -> int:
        question = "SELECT count(*) FROM procrastinate_jobs WHERE status IN ('todo', 'doing')"
        return int(self._eye.execute(question).fetchone()[0])

    def work(self, stop: Event) -> None:
        asyncio.run(self._work(stop))

    def close(self) -> None:
        self._eye.close()
        self._app.close()

    async def _work(self, stop: Event) -> None:
        app: Any = App(connector=PsycopgConnector(conninfo=self._url))

        @app.task(name="noop")  # type: ignore[untyped-decorator]
        async def noop(payload: Payload) -> None:
            self.handle(payload)

        async with app.open_async():
            running = asyncio.ensure_future(
                app.run_worker_async(
                    concurrency=CONCURRENCY, delete_jobs="always", install_signal_handlers=False
                )
            )
            while not stop.is_set() and not running.done():  # noqa: ASYNC110 - a signal sets it
                await asyncio.sleep(0.1)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
