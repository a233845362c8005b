"""The contract on PostgreSQL: each verb in the contract's order, one transaction each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ferryman.backends.postgresql import browse, history, ledger
from ferryman.backends.postgresql.cells import write_cell
from ferryman.backends.postgresql.connection import Database
from ferryman.backends.postgresql.diagnosis import diagnose
from ferryman.backends.postgresql.floors import Floors
from ferryman.backends.postgresql.heartbeat import heartbeat
from ferryman.backends.postgresql.joined import joined
from ferryman.backends.postgresql.operators import operate
from ferryman.backends.postgresql.poll import poll
from ferryman.backends.postgresql.push import call, is_plain, push, push_exactly, statement
from ferryman.backends.postgresql.reap import reap
from ferryman.backends.postgresql.restore import restore
from ferryman.backends.postgresql.settle import ends, only_acks, settle
from ferryman.backends.postgresql.stating import push_statement
from ferryman.backends.postgresql.views import create_view
from ferryman.backends.postgresql.watch import Watch
from ferryman.clock import SystemClock
from ferryman.job import State
from ferryman.lifecycle import Act, check_prunable
from ferryman.queue.answers import Cell, Pushed
from ferryman.queue.capabilities import Capabilities
from ferryman.queue.capacity import NO_LIMITS
from ferryman.queue.settlement import make_receipt

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ferryman.backends.postgresql.location import Location
    from ferryman.clock import Clock
    from ferryman.filter import Filter
    from ferryman.job import Job
    from ferryman.message import Message
    from ferryman.queue.answers import Acted, Page, Reaped, Snapshot
    from ferryman.queue.capacity import Limits
    from ferryman.queue.diagnosis import Finding
    from ferryman.queue.heartbeat import Beat, Pulse
    from ferryman.queue.joining import Statement, Style
    from ferryman.queue.ledger import Notice
    from ferryman.queue.settlement import Receipt, Settlement
    from ferryman.queue.view import View

# Long deletions let others in between: this many jobs a transaction.
_CHUNK: Final = 1_000


class PostgresqlBackend:
    """One schema of a database. Rules of the verbs: `ferryman.queue.contract.Backend`.

    Times are the server's; a clock other than the machine's own is a test's, and is obeyed.
    """

    def __init__(self, location: Location, clock: Clock) -> None:
        self._database = Database(location, clock, injected=not isinstance(clock, SystemClock))
        self._watch = Watch(self._database)
        self._floors = Floors(self._database)
        self._capabilities = Capabilities(
            backend="postgresql",
            durable=True,
            shared=True,
            order="strict per claim",
            transactional_push=True,
            served=True,
            tenants=True,
            exact_capacity=True,
        )
        # A database that cannot be used is better known now than at the first job.
        with self._database.lent():
            pass

    @property
    def capabilities(self) -> Capabilities:
        return self._capabilities

    @property
    def clock(self) -> Clock:
        return self._database.clock

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
            with joined(connection, self._database) as tx:
                pushed = push(tx, messages, limits)
                tx.announce()
                return pushed
        if limits:
            return self._database.transact(lambda tx: push_exactly(tx, messages, limits))
        if len(messages) == 1 and is_plain(messages[0]) and self._push_one(messages[0]):
            return [Pushed(messages[0].id, "created")]
        return self._database.transact(lambda tx: push(tx, messages))

    def depth(self, queue: str, most: int, tenant: str | None = None) -> int:
        values = {"queue": queue, "tenant": tenant, "most": most}
        [(found,)] = self._database.read("depth", values)
        return int(found)

    def poll(
        self,
        worker: str,
        queues: Mapping[str, int],
        *,
        lease: float,
        turn: int = 0,
        skip_tasks: Collection[str] = (),
    ) -> Sequence[Job]:
        return poll(
            self._database,
            self._floors,
            worker,
            queues,
            lease=lease,
            turn=turn,
            skip_tasks=skip_tasks,
        )

    def claim(
        self,
        worker: str,
        ids: Mapping[str, Collection[str]],
        *,
        lease: float,
        turn: int = 0,
        skip_tasks: Collection[str] = (),
    ) -> Sequence[Job]:
        return self._database.transact(
            lambda tx: ledger.claim(tx, worker, ids, lease=lease, turn=turn, skip_tasks=skip_tasks)
        )

    def pending(self, ids: Collection[str]) -> Sequence[Notice]:
        return ledger.pending(self._database, ids)

    def heartbeat(
        self, worker: str, beats: Sequence[Beat], *, lease: float, answered: int = -1
    ) -> Sequence[Pulse]:
        if not beats and answered < 0:
            return []
        return self._database.transact(
            lambda tx: heartbeat(tx, worker, beats, lease=lease, answered=answered)
        )

    def settle(self, settlements: Sequence[Settlement]) -> Sequence[Receipt]:
        if not settlements:
            return []
        if not only_acks(settlements):
            return self._database.transact(lambda tx: settle(tx, settlements))
        values = ends(settlements, settlements[0].worker, self._database.given_now)
        missed = {job_id for (job_id,) in self._database.write("ack", values)}
        rest = [settlement for settlement in settlements if settlement.job_id in missed]
        others = iter(self._database.transact(lambda tx: settle(tx, rest)) if rest else ())
        return [
            next(others)
            if one.job_id in missed
            else make_receipt(one.job_id, True, State.COMPLETED)
            for one in settlements
        ]

    def settle_within(
        self, connection: object, settlements: Sequence[Settlement]
    ) -> Sequence[Receipt]:
        with joined(connection, self._database) as tx:
            receipts = settle(tx, settlements)
            tx.announce()
            return receipts

    def push_statement(self, message: Message, style: Style) -> Statement:
        return push_statement(message, self._database.location, style)

    def reap(self, limit: int = 1_000) -> Sequence[Reaped]:
        [(overdue, uncounted)] = self._database.read("overdue", {"now": self._database.given_now})
        if uncounted:
            self._database.write("add_up_counts")
        return self._database.transact(lambda tx: reap(tx, limit)) if overdue else []

    def wait(self, queues: Collection[str], timeout: float) -> bool:
        return self._watch.wait(queues, timeout)

    def wake(self) -> None:
        self._watch.wake()

    def hears(self) -> bool | None:
        """Whether the server's announcements arrive; None while nobody listens for them."""
        return self._watch.hears

    def get(self, job_id: str) -> Job | None:
        return browse.get(self._database, job_id)

    def list(self, where: Filter, *, limit: int = 50, after: str | None = None) -> Page:
        return browse.list_jobs(self._database, where, limit, after)

    def count(self, where: Filter, most: int) -> Mapping[State, int] | None:
        return browse.count(self._database, where, most)

    def snapshot(self) -> Snapshot:
        return browse.snapshot(self._database)

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
        return self._database.transact(lambda tx: restore(tx, jobs)) if jobs else []

    def pause_queue(self, queue: str) -> None:
        self._database.transact(lambda tx: history.pause_queue(tx, queue))

    def resume_queue(self, queue: str) -> None:
        self._database.transact(lambda tx: history.resume_queue(tx, queue))

    def purge(self, queue: str) -> int:
        # A producer that goes on pushing must not keep the purge busy for ever.
        [(newest,)] = self._database.read("newest")
        purged = 0
        while chunk := self._database.transact(lambda tx: history.purge(tx, queue, newest, _CHUNK)):
            purged += chunk
        return purged

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
            size = min(_CHUNK, limit - pruned)
            chunk = self._database.transact(
                lambda tx, size=size: history.prune(  # type: ignore[misc]
                    tx, older_than=older_than, states=states, keep=keep, limit=size, spare=spare
                )
            )
            pruned += chunk
            if not chunk:
                break
        return pruned

    def read_cells(self, prefix: str) -> Sequence[Cell]:
        values = {"prefix": prefix, "now": self._database.given_now}
        return [Cell(*row) for row in self._database.read("read_cells", values)]

    def write_cell(
        self, key: str, value: str | None, *, expect: int | None, ttl: float | None = None
    ) -> Cell | None:
        return self._database.transact(
            lambda tx: write_cell(tx, key, value, expect=expect, ttl=ttl)
        )

    def diagnose(self, *, deep: bool = False) -> Sequence[Finding]:
        return diagnose(self._database)

    def create_view(self, view: View) -> None:
        schema = self._database.location.schema
        self._database.transact(lambda tx: create_view(tx, schema, view))

    def close(self) -> None:
        self._database.close()
        self._watch.close()

    def _push_one(self, message: Message) -> bool:
        """Whether its id was free: the usual case, in one statement."""
        database = self._database
        told = database.may_tell(message.queue)
        form = statement(message)
        values = call(message, database.given_now, announce=bool(told), bare=form == "push_bare")
        created: bool = False
        try:
            [(created,)] = database.write(form, values)
        finally:
            if not created:
                database.take_back(told)
        if created:
            if not message.delay and message.ready_at is None:
                database.hear([message.queue])
            database.awaken([message.queue], told)
        return created

    def _operate(self, verb: Act, ids: Sequence[str]) -> Sequence[Acted]:
        return self._database.transact(lambda tx: operate(tx, verb, ids))
