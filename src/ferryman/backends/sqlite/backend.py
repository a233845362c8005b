"""The contract on SQLite: each verb in the contract's order, one transaction each."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from ferryman.backends.sqlite import browse, cells, history, ledger
from ferryman.backends.sqlite.connection import Database
from ferryman.backends.sqlite.diagnosis import diagnose
from ferryman.backends.sqlite.heartbeat import heartbeat
from ferryman.backends.sqlite.joined import joined
from ferryman.backends.sqlite.operators import operate
from ferryman.backends.sqlite.poll import claimable, poll, read_claimed
from ferryman.backends.sqlite.push import depth, push
from ferryman.backends.sqlite.reap import reap
from ferryman.backends.sqlite.restore import restore
from ferryman.backends.sqlite.settle import ack_all, completed, is_plain_ack, settle
from ferryman.backends.sqlite.transaction import SQL, Transaction
from ferryman.backends.sqlite.views import create_view
from ferryman.backends.sqlite.watch import Watch
from ferryman.backends.sqlite.writing import Writing
from ferryman.lifecycle import Act, check_prunable
from ferryman.queue.capabilities import Capabilities
from ferryman.queue.capacity import NO_LIMITS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from ferryman.backends.sqlite.location import Location
    from ferryman.clock import Clock
    from ferryman.filter import Filter
    from ferryman.job import Job, State
    from ferryman.message import Message
    from ferryman.queue.answers import Acted, Cell, Page, Pushed, Reaped, Snapshot
    from ferryman.queue.capacity import Limits
    from ferryman.queue.diagnosis import Finding
    from ferryman.queue.heartbeat import Beat, Pulse
    from ferryman.queue.ledger import Notice
    from ferryman.queue.settlement import Receipt, Settlement
    from ferryman.queue.view import View

# Long deletions let other writers in between: this many jobs a transaction.
_CHUNK = 1_000


class SqliteBackend:
    """One database file. Rules of the verbs: `ferryman.queue.contract.Backend`."""

    def __init__(self, location: Location, clock: Clock) -> None:
        self._clock = clock
        self._database = Database(location)
        self._watch = Watch(self._database, clock)
        self._capabilities = Capabilities(
            backend="sqlite",
            durable=location.synchronous == "full",
            shared=True,
            order="strict",
            transactional_push=True,
            exact_capacity=True,
            tenants=True,
        )
        # A file that cannot be used is better known now than at the first job.
        with self._database.peeking():
            pass

    @property
    def capabilities(self) -> Capabilities:
        return self._capabilities

    @property
    def clock(self) -> Clock:
        return self._clock

    def push(
        self,
        messages: Sequence[Message],
        *,
        connection: object | None = None,
        limits: Limits = NO_LIMITS,
    ) -> Sequence[Pushed]:
        if not messages:
            return []
        if connection is not None:
            with self._joined(connection) as tx:
                return push(tx, messages, limits)
        with self._writing() as tx:
            return push(tx, messages, limits)

    def depth(self, queue: str, most: int, tenant: str | None = None) -> int:
        with self._database.peeking() as connection:
            return depth(connection.execute, queue, most, tenant)

    def poll(
        self,
        worker: str,
        queues: Mapping[str, int],
        *,
        lease: float,
        turn: int = 0,
        skip_tasks: Collection[str] = (),
    ) -> Sequence[Job]:
        with self._database.peeking() as connection:
            found, _ = claimable(connection, queues, self._clock.now())
        if not found:
            return []
        chosen = {queue: limit for queue, limit in queues.items() if queue in found}
        with self._writing() as tx:
            due = poll(tx, worker, chosen, lease=lease, turn=turn, skip_tasks=skip_tasks)
        with self._database.peeking() as connection:
            return read_claimed(connection, worker, due)

    def claim(
        self,
        worker: str,
        ids: Mapping[str, Collection[str]],
        *,
        lease: float,
        turn: int = 0,
        skip_tasks: Collection[str] = (),
    ) -> Sequence[Job]:
        with self._writing() as tx:
            due = ledger.claim(tx, worker, ids, lease=lease, turn=turn, skip_tasks=skip_tasks)
        with self._database.peeking() as connection:
            return read_claimed(connection, worker, due)

    def pending(self, ids: Collection[str]) -> Sequence[Notice]:
        with self._database.reading() as connection:
            return ledger.pending(connection, ids)

    def heartbeat(
        self, worker: str, beats: Sequence[Beat], *, lease: float, answered: int = -1
    ) -> Sequence[Pulse]:
        if not beats and answered < 0:
            return []
        with self._writing() as tx:
            return heartbeat(tx, worker, beats, lease=lease, answered=answered)

    def settle(self, settlements: Sequence[Settlement]) -> Sequence[Receipt]:
        if not settlements:
            return []
        # While others wait for the lock, nothing is done that can be done before or after.
        plain = all(map(is_plain_ack, settlements))
        with self._writing() as tx:
            receipts = None if plain and ack_all(tx, settlements) else settle(tx, settlements)
        return receipts or completed(settlements)

    def settle_within(
        self, connection: object, settlements: Sequence[Settlement]
    ) -> Sequence[Receipt]:
        with self._joined(connection) as tx:
            return settle(tx, settlements)

    def reap(self, limit: int = 1_000) -> Sequence[Reaped]:
        with self._database.reading() as connection:
            values = {"now": self._clock.now()}
            (overdue,) = connection.execute(SQL["overdue"], values).fetchone()
        if not overdue:
            return []
        with self._writing() as tx:
            return reap(tx, limit)

    def wait(self, queues: Collection[str], timeout: float) -> bool:
        return self._watch.wait(queues, timeout)

    def wake(self) -> None:
        self._watch.wake()

    def get(self, job_id: str) -> Job | None:
        with self._database.reading() as connection:
            return browse.get(connection, job_id)

    def list(self, where: Filter, *, limit: int = 50, after: str | None = None) -> Page:
        with self._database.reading() as connection:
            return browse.list_jobs(connection, where, self._clock.now(), limit, after)

    def count(self, where: Filter, most: int) -> Mapping[State, int] | None:
        with self._database.reading() as connection:
            return browse.count(connection, where, most)

    def snapshot(self) -> Snapshot:
        with self._database.reading() as connection:
            return browse.snapshot(connection, self._clock.now())

    def cancel(self, ids: Sequence[str]) -> Sequence[Acted]:
        return self._operate(Act.CANCEL, ids)

    def pause(self, ids: Sequence[str]) -> Sequence[Acted]:
        return self._operate(Act.PAUSE, ids)

    def resume(self, ids: Sequence[str]) -> Sequence[Acted]:
        return self._operate(Act.RESUME, ids)

    def retry(self, ids: Sequence[str]) -> Sequence[Acted]:
        return self._operate(Act.RETRY, ids)

    def delete(self, ids: Sequence[str]) -> Sequence[Acted]:
        return self._operate(Act.DELETE, ids)

    def restore(self, jobs: Sequence[Job]) -> Sequence[Pushed]:
        if not jobs:
            return []
        with self._writing() as tx:
            return restore(tx, jobs)

    def pause_queue(self, queue: str) -> None:
        with self._writing() as tx:
            tx.run("pause_queue", {"queue": queue})

    def resume_queue(self, queue: str) -> None:
        with self._writing() as tx:
            tx.run("resume_queue", {"queue": queue})
            tx.tally.wakes = True

    def purge(self, queue: str) -> int:
        with self._database.reading() as connection:
            # A producer that goes on pushing must not keep the purge busy for ever.
            (newest,) = connection.execute(SQL["newest"]).fetchone()
        purged = 0
        while True:
            with self._writing() as tx:
                chunk = history.purge(tx, queue, newest, _CHUNK)
            if not chunk:
                return purged
            purged += chunk

    def prune(
        self,
        *,
        older_than: float,
        states: Collection[State] = (),
        keep: int | None = None,
        limit: int = 10_000,
        spare: Collection[str] = (),
    ) -> int:
        check_prunable(older_than)
        pruned = 0
        while pruned < limit:
            with self._writing() as tx:
                chunk = history.prune(
                    tx,
                    older_than=older_than,
                    states=states,
                    keep=keep,
                    limit=min(_CHUNK, limit - pruned),
                    spare=spare,
                )
            pruned += chunk
            if not chunk:
                break
        return pruned

    def read_cells(self, prefix: str) -> Sequence[Cell]:
        with self._database.reading() as connection:
            return cells.read_cells(connection, prefix, self._clock.now())

    def write_cell(
        self, key: str, value: str | None, *, expect: int | None, ttl: float | None = None
    ) -> Cell | None:
        with self._writing() as tx:
            return cells.write_cell(tx, key, value, expect=expect, ttl=ttl)

    def diagnose(self, *, deep: bool = False) -> Sequence[Finding]:
        with self._database.reading() as connection:
            return diagnose(connection, self._database.path, deep=deep)

    def create_view(self, view: View) -> None:
        with self._database.writing() as connection:
            create_view(connection, view)

    def close(self) -> None:
        self._database.close()
        self._watch.close()

    def _operate(self, verb: Act, ids: Sequence[str]) -> Sequence[Acted]:
        with self._writing() as tx:
            return operate(tx, verb, ids)

    @contextlib.contextmanager
    def _joined(self, connection: object) -> Iterator[Transaction]:
        with (
            joined(connection, self._database.path) as theirs,
            contextlib.closing(Transaction(theirs, self._clock.now())) as tx,
        ):
            yield tx
            tx.store_counts()

    def _writing(self) -> Writing:
        return Writing(self._database, self._clock, self._watch)
