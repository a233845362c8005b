"""The limit of SQLite: one table, claims and deletions by a hundred, every commit synced."""

from __future__ import annotations

import json
import sqlite3
import time
from typing import TYPE_CHECKING, Final

from bench.contender import BATCH, QUEUE, Cycling

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from threading import Event

    from bench.contender import Handler, Payload

POLL_EVERY: Final = 0.002

_SCHEMA: Final = f"""
CREATE TABLE IF NOT EXISTS jobs (
    id INTEGER PRIMARY KEY,
    queue TEXT NOT NULL DEFAULT '{QUEUE}',
    priority INTEGER NOT NULL DEFAULT 0,
    status INTEGER NOT NULL DEFAULT 0,
    payload TEXT NOT NULL,
    created REAL
);
CREATE INDEX IF NOT EXISTS ready ON jobs (priority DESC, id) WHERE status = 0;
"""
_PUSH: Final = "INSERT INTO jobs (payload) VALUES (?)"
_CLAIM: Final = """
UPDATE jobs SET status = 1
WHERE id IN (SELECT id FROM jobs WHERE status = 0 ORDER BY priority DESC, id LIMIT ?)
RETURNING id, payload
"""


class RawSqlite(Cycling):
    """WAL and synchronous=FULL like ours; no lease, no fence, no history, no retry."""

    def __init__(self, folder: Path, handle: Handler) -> None:
        super().__init__(folder, handle)
        self._connection = sqlite3.connect(
            folder / "raw.db", isolation_level=None, timeout=30, check_same_thread=False
        )
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.executescript(_SCHEMA)

    def push(self, payload: Payload) -> None:
        self._connection.execute(_PUSH, (json.dumps(payload),))

    def push_many(self, payloads: Sequence[Payload]) -> None:
        self._insert([(json.dumps(payload),) for payload in payloads])

    def prepare(self, payloads: Sequence[Payload]) -> Sequence[object]:
        return [(json.dumps(payload),) for payload in payloads]

    def cycle(self, prepared: Sequence[object]) -> int:
        self._insert(prepared)
        rows = self._connection.execute(_CLAIM, (len(prepared),)).fetchall()
        self._finish(rows)
        return len(rows)

    def unfinished(self) -> int:
        (jobs,) = self._connection.execute("SELECT count(*) FROM jobs").fetchone()
        return int(jobs)

    def work(self, stop: Event) -> None:
        while not stop.is_set():
            try:
                rows = self._connection.execute(_CLAIM, (BATCH,)).fetchall()
                if not rows:
                    time.sleep(POLL_EVERY)
                    continue
                for _, text in rows:
                    self.handle(json.loads(text))
                self._finish(rows)
            except sqlite3.OperationalError:
                time.sleep(POLL_EVERY)

    def close(self) -> None:
        self._connection.close()

    def _insert(self, rows: Sequence[object]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(_PUSH, rows)  # type: ignore[arg-type]
        self._connection.execute("COMMIT")

    def _finish(self, rows: Sequence[tuple[int, str]]) -> None:
        ids = ",".join(str(job_id) for job_id, _ in rows)
        self._connection.execute(f"DELETE FROM jobs WHERE id IN ({ids})")  # noqa: S608
