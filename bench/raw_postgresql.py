"""The limit of PostgreSQL: one table, claims and deletions by a hundred, every commit synced."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Final

import psycopg

from bench.contender import BATCH, QUEUE, Cycling
from bench.postgres_server import postgres_url, schema_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from threading import Event

    from bench.contender import Handler, Payload

POLL_EVERY: Final = 0.002

_SCHEMA: Final = f"""
CREATE SCHEMA IF NOT EXISTS {{schema}};
CREATE TABLE IF NOT EXISTS {{schema}}.jobs (
    id bigserial PRIMARY KEY,
    queue text NOT NULL DEFAULT '{QUEUE}',
    priority integer NOT NULL DEFAULT 0,
    status smallint NOT NULL DEFAULT 0,
    payload jsonb NOT NULL,
    created timestamptz NOT NULL DEFAULT now(),
    started timestamptz
);
CREATE INDEX IF NOT EXISTS ready ON {{schema}}.jobs (priority DESC, id) WHERE status = 0;
"""
_PUSH: Final = "INSERT INTO {schema}.jobs (payload) VALUES (%s)"
_COPY: Final = "COPY {schema}.jobs (payload) FROM STDIN"
_CLAIM: Final = """
UPDATE {schema}.jobs SET status = 1, started = now()
WHERE id IN (
    SELECT id FROM {schema}.jobs WHERE status = 0
    ORDER BY priority DESC, id FOR UPDATE SKIP LOCKED LIMIT %s
)
RETURNING id, payload
"""
_FINISH: Final = "DELETE FROM {schema}.jobs WHERE id = ANY (%s)"


class RawPostgresql(Cycling):
    """The server's own settings like ours; no lease, no fence, no history, no retry."""

    def __init__(self, folder: Path, handle: Handler) -> None:
        super().__init__(folder, handle)
        self._schema = schema_of(folder)
        self._connection = psycopg.connect(postgres_url(), autocommit=True)
        self._connection.execute("SET client_min_messages = warning")
        # Two workers may come at once, and IF NOT EXISTS is no lock.
        with self._connection.transaction():
            self._connection.execute("SELECT pg_advisory_xact_lock(1)")
            self._connection.execute(self._sql(_SCHEMA))

    def push(self, payload: Payload) -> None:
        self._run(_PUSH, (json.dumps(payload),))

    def push_many(self, payloads: Sequence[Payload]) -> None:
        self._copy([json.dumps(payload) for payload in payloads])

    def prepare(self, payloads: Sequence[Payload]) -> Sequence[object]:
        return [json.dumps(payload) for payload in payloads]

    def cycle(self, prepared: Sequence[object]) -> int:
        self._copy(prepared)
        rows = self._claim(len(prepared))
        self._finish(rows)
        return len(rows)

    def unfinished(self) -> int:
        row = self._run("SELECT count(*) FROM {schema}.jobs").fetchone()
        return int(row[0]) if row else 0

    def work(self, stop: Event) -> None:
        while not stop.is_set():
            rows = self._claim(BATCH)
            for _, payload in rows:
                self.handle(payload)
            if rows:
                self._finish(rows)
            else:
                time.sleep(POLL_EVERY)

    def close(self) -> None:
        self._connection.close()

    def _copy(self, texts: Sequence[object]) -> None:
        with self._connection.cursor().copy(self._sql(_COPY)) as stream:
            for text in texts:
                stream.write_row((text,))

    def _claim(self, limit: int) -> Sequence[tuple[int, Payload]]:
        return self._run(_CLAIM, (limit,)).fetchall()

    def _finish(self, rows: Sequence[tuple[int, Payload]]) -> None:
        self._run(_FINISH, ([number for number, _ in rows],))

    def _run(self, sql: str, values: Sequence[object] = ()) -> psycopg.Cursor[tuple[int, Payload]]:
        return self._connection.execute(self._sql(sql), values, prepare=True)

    def _sql(self, text: str) -> bytes:
        return text.replace("{schema}", self._schema).encode()
