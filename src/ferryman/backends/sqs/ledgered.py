"""The contract on SQS with a ledger: the database keeps the jobs, SQS says which ones to claim.

A row in the ledger is the truth and the commit of every verb. A message is a notice that a job is
pending, sent after that commit and deleted once the job is claimed: to lose one, to get it twice
or late, changes only when somebody looks. Leases, fences and attempts are the ledger's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ferryman.backends.sqs.agenda import Agenda
from ferryman.backends.sqs.calls import Calls
from ferryman.backends.sqs.diagnosis import diagnose
from ferryman.backends.sqs.dispatch import Dispatch
from ferryman.backends.sqs.gathering import Gathering
from ferryman.backends.sqs.inbox import Inbox
from ferryman.backends.sqs.listening import Listening
from ferryman.backends.sqs.poll import Claims, Poll
from ferryman.backends.sqs.queues import Queues
from ferryman.backends.sqs.sifting import Sifting
from ferryman.backends.sqs.strangers import Strangers
from ferryman.backends.sqs.watch import Watch
from ferryman.job import State
from ferryman.queue.capacity import NO_LIMITS
from ferryman.queue.diagnosis import Diagnosable
from ferryman.queue.joining import Joining, no_database
from ferryman.queue.tenancy import refuse_tenants
from ferryman.queue.view import Viewable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ferryman.backends.sqs.location import Location
    from ferryman.clock import Clock
    from ferryman.filter import Filter
    from ferryman.job import Job
    from ferryman.message import Message
    from ferryman.queue.answers import Acted, Cell, Page, Pushed, Reaped, Snapshot
    from ferryman.queue.capabilities import Capabilities
    from ferryman.queue.capacity import Limits
    from ferryman.queue.diagnosis import Finding, Trouble
    from ferryman.queue.heartbeat import Beat, Pulse
    from ferryman.queue.ledger import Ledger, Notice
    from ferryman.queue.settlement import Receipt, Settlement
    from ferryman.queue.view import View

# Seconds in which a caller's transaction may be expected to commit.
_THEIR_COMMIT: Final = 60.0


class LedgerBackend:
    """SQS queues before a database. Rules of the verbs: `ferryman.queue.contract.Backend`."""

    def __init__(self, location: Location, ledger: Ledger, calls: Calls | None = None) -> None:
        self._location = location
        self._ledger = ledger
        self._calls = calls or Calls(location)
        self._queues = Queues(self._calls, location)
        self._capabilities = replace(
            ledger.capabilities, backend="sqs", order="by label", served=True, tenants=False
        )
        self._begin()

    @property
    def capabilities(self) -> Capabilities:
        return self._capabilities

    @property
    def clock(self) -> Clock:
        return self._ledger.clock

    def push(
        self,
        messages: Sequence[Message],
        *,
        connection: object | None = None,
        limits: Limits = NO_LIMITS,
    ) -> Sequence[Pushed]:
        refuse_tenants("sqs", messages)
        self._dispatch.prepare(messages)
        pushed = self._ledger.push(messages, connection=connection, limits=limits)
        if connection is not None:
            # Nothing is there before the commit, which only the caller sees.
            queues = {message.queue for message in messages}
            self._agenda.expect(queues, self.clock.now() + _THEIR_COMMIT)
            return pushed
        new = [
            replace(message, id=answer.id) if answer.id != message.id else message
            for message, answer in zip(messages, pushed, strict=True)
            if answer.status in ("created", "replaced")
        ]
        self._tell(self._dispatch.pushed(new))
        return pushed

    def poll(
        self,
        worker: str,
        queues: Mapping[str, int],
        *,
        lease: float,
        turn: int = 0,
        skip_tasks: Collection[str] = (),
    ) -> Sequence[Job]:
        claims = Claims(worker, lease=lease, turn=turn, skip_tasks=skip_tasks)
        jobs = self._poll.poll(claims, queues)
        self._watch.polled(queues)
        return jobs

    def heartbeat(
        self, worker: str, beats: Sequence[Beat], *, lease: float, answered: int = -1
    ) -> Sequence[Pulse]:
        pulses = self._ledger.heartbeat(worker, beats, lease=lease, answered=answered)
        if answered >= 0:
            # What a lost answer had claimed is pending again, and only the ledger knows it.
            self._agenda.expect_all()
        return pulses

    def settle(self, settlements: Sequence[Settlement]) -> Sequence[Receipt]:
        receipts = self._ledger.settle(settlements)
        ended = list(zip(settlements, receipts, strict=True))
        children = [
            child
            for settlement, receipt in ended
            if receipt.applied and receipt.state is State.COMPLETED
            for child in settlement.children
        ]
        back = [one.job_id for one in receipts if one.applied and one.state is State.PENDING]
        self._tell(self._dispatch.pushed(children))
        self._announce(back)
        return receipts

    def settle_within(
        self, connection: object, settlements: Sequence[Settlement]
    ) -> Sequence[Receipt]:
        if not isinstance(self._ledger, Joining):
            raise no_database("sqs", "job.ack(connection=…)")
        receipts = self._ledger.settle_within(connection, settlements)
        queues = {one.queue for one in settlements}
        queues |= {child.queue for one in settlements for child in one.children}
        self._agenda.expect(queues, self.clock.now() + _THEIR_COMMIT)
        return receipts

    def reap(self, limit: int = 1_000) -> Sequence[Reaped]:
        reaped = self._ledger.reap(limit)
        self._announce([one.id for one in reaped if one.state is State.PENDING])
        return reaped

    def wait(self, queues: Collection[str], timeout: float) -> bool:
        return self._watch.wait(queues, timeout, self._listening)

    def wake(self) -> None:
        self._watch.wake()

    def get(self, job_id: str) -> Job | None:
        return self._ledger.get(job_id)

    def list(self, where: Filter, *, limit: int = 50, after: str | None = None) -> Page:
        return self._ledger.list(where, limit=limit, after=after)

    def depth(self, queue: str, most: int, tenant: str | None = None) -> int:
        return self._ledger.depth(queue, most, tenant)

    def snapshot(self) -> Snapshot:
        return self._ledger.snapshot()

    def cancel(self, ids: Sequence[str]) -> Sequence[Acted]:
        return self._ledger.cancel(ids)

    def pause(self, ids: Sequence[str]) -> Sequence[Acted]:
        return self._ledger.pause(ids)

    def resume(self, ids: Sequence[str]) -> Sequence[Acted]:
        acted = self._ledger.resume(ids)
        self._announce([one.id for one in acted if one.refused is None])
        return acted

    def retry(self, ids: Sequence[str]) -> Sequence[Acted]:
        acted = self._ledger.retry(ids)
        self._announce([one.id for one in acted if one.refused is None])
        return acted

    def delete(self, ids: Sequence[str]) -> Sequence[Acted]:
        return self._ledger.delete(ids)

    def restore(self, jobs: Sequence[Job]) -> Sequence[Pushed]:
        pushed = self._ledger.restore(jobs)
        self._announce([one.id for one in pushed if one.created])
        return pushed

    def pause_queue(self, queue: str) -> None:
        self._ledger.pause_queue(queue)

    def resume_queue(self, queue: str) -> None:
        self._ledger.resume_queue(queue)
        self._watch.ring([queue])

    def purge(self, queue: str) -> int:
        return self._ledger.purge(queue)

    def prune(
        self,
        *,
        older_than: float,
        states: Collection[State] = (),
        keep: int | None = None,
        limit: int = 10_000,
        spare: Collection[str] = (),
    ) -> int:
        return self._ledger.prune(
            older_than=older_than, states=states, keep=keep, limit=limit, spare=spare
        )

    def read_cells(self, prefix: str) -> Sequence[Cell]:
        return self._ledger.read_cells(prefix)

    def write_cell(
        self, key: str, value: str | None, *, expect: int | None, ttl: float | None = None
    ) -> Cell | None:
        return self._ledger.write_cell(key, value, expect=expect, ttl=ttl)

    def provision(self, queues: Collection[str]) -> Sequence[str]:
        """Make the SQS queues of these queues; their names."""
        return [name for queue in queues for name in self._queues.make(queue)]

    def diagnose(self, *, deep: bool = False) -> Sequence[Finding]:
        own = self._ledger.diagnose(deep=deep) if isinstance(self._ledger, Diagnosable) else []
        return [*own, *diagnose(self._calls, self._queues, self._ledger.snapshot())]

    def troubles(self) -> Sequence[Trouble]:
        return self._strangers.troubles()

    def create_view(self, view: View) -> None:
        if not isinstance(self._ledger, Viewable):
            raise no_database("sqs", "a view")
        self._ledger.create_view(view)

    def close(self) -> None:
        self._listening.close()
        self._watch.wake()
        if held := self._inbox.empty():
            self._calls.hide(held, [0] * len(held))
        self._calls.close()
        self._ledger.close()

    def after_fork(self) -> None:
        """In a child: the locks and the messages that the parent holds are the parent's."""
        self._begin()

    def _begin(self) -> None:
        """What this process knows by itself."""
        self._agenda = Agenda(self._location.look)
        self._inbox = Inbox()
        self._strangers = Strangers(self._calls, self._location.bare)
        self._dispatch = Dispatch(
            self._calls, self._queues, self._ledger, self._agenda, self._location.hop
        )
        sifting = Sifting(self._calls, self._ledger, self._dispatch, self._strangers)
        self._watch = Watch(self._ledger, self._inbox, self._agenda, sifting)
        self._listening = Listening(self._calls, self._queues, self._watch.heard)
        self._poll = Poll(
            self._calls,
            self._ledger,
            gathering=Gathering(self._calls, self._queues, self._inbox, self.clock),
            agenda=self._agenda,
            inbox=self._inbox,
            sifting=sifting,
        )

    def _announce(self, ids: Sequence[str]) -> None:
        """Tell of those of these jobs that are pending by now."""
        if ids:
            self._tell(self._ledger.pending(ids))

    def _tell(self, notices: Sequence[Notice]) -> None:
        self._dispatch.send(notices)
        self._watch.ring(notice.queue for notice in notices)
