"""Transactions stopped just before their commit, and those that then have to wait for them."""

from __future__ import annotations

import math
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ferryman.testing.waiting import wait_until
from tests.servers.postgres_fixtures import SCHEMA, SESSIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

    import psycopg

    from ferryman.backends.postgresql import PostgresqlBackend
    from ferryman.backends.postgresql.transaction import Transaction

    Admin = psycopg.Connection[tuple[object, ...]]

WAITING = f"SELECT pid {SESSIONS} AND wait_event_type = 'Lock'"


class RolledBack(Exception):
    """Ends a held transaction without a commit."""


class Held:
    """A transaction that has done its work and not committed yet."""

    def __init__(self, backend: PostgresqlBackend, act: Callable[[Transaction], Any]) -> None:
        self._done, self._go = threading.Event(), threading.Event()
        self._fails = False
        self._pool = ThreadPoolExecutor(1)

        def hold(tx: Transaction) -> Any:
            answer = act(tx)
            self._done.set()
            self._go.wait(20)
            if self._fails:
                raise RolledBack
            return answer

        self._future = self._pool.submit(backend._database.transact, hold)
        wait_until(lambda: self._done.is_set() or self._future.done(), what="the held transaction")

    def commit(self) -> Any:
        self._go.set()
        self._pool.shutdown()
        return self._future.result(20)

    def roll_back(self) -> None:
        self._fails = True
        self._go.set()
        self._pool.shutdown()


@contextmanager
def beside(admin: Admin, act: Callable[[], Any]) -> Iterator[Future[Any]]:
    """Start an act in another thread; go on when it waits for a lock, or is done already."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(act)
        wait_until(lambda: future.done() or _waits(admin), what="the act to wait or be done")
        yield future


def _waits(admin: Admin) -> bool:
    return admin.execute(WAITING).rowcount > 0


def places(admin: Admin, job_id: str) -> list[tuple[object, ...]]:
    """Every row of an id, with its table."""
    return admin.execute(
        f"SELECT 'jobs', state FROM {SCHEMA}.jobs WHERE id = %(id)s "  # noqa: S608
        f"UNION ALL SELECT 'history', state FROM {SCHEMA}.history WHERE id = %(id)s",
        {"id": job_id},
    ).fetchall()


def poll_in(tx: Transaction, skip_tasks: Sequence[str] = ()) -> list[Any]:
    """Claim one job of the usual queue; its id."""
    values = {"worker": "w1", "queues": ["mail"], "limits": [1], "floors": [-math.inf]}
    terms = {"lease": 60.0, "turn": 0, "skip_tasks": list(skip_tasks), "now": None}
    return [row[0] for row in tx.rows("poll", {**values, **terms})]
