"""The contract on SQS alone: what it can hold, at least once; the rest is refused by name.

A job is its message. A lease is the time for which SQS hides it, an attempt one more time that it
was received, an ack its deletion. A late ack cannot be refused, and nothing can be looked at.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, NoReturn

from ferryman.backends.sqs.bodies import Bodies
from ferryman.backends.sqs.calls import LONGEST_HOLD, Calls
from ferryman.backends.sqs.claiming import Claiming
from ferryman.backends.sqs.counting import count
from ferryman.backends.sqs.ending import Ending
from ferryman.backends.sqs.errors import StaleHandle
from ferryman.backends.sqs.gathering import Gathering
from ferryman.backends.sqs.hearing import Hearing
from ferryman.backends.sqs.held import Held
from ferryman.backends.sqs.inbox import Inbox
from ferryman.backends.sqs.location import LONGEST_DELAY
from ferryman.backends.sqs.queues import Queues
from ferryman.backends.sqs.sending import Sending, without_ledger
from ferryman.backends.sqs.strangers import Strangers
from ferryman.job import State
from ferryman.lifecycle import check_prunable
from ferryman.queue.answers import Pushed
from ferryman.queue.capabilities import Capabilities
from ferryman.queue.capacity import NO_LIMITS
from ferryman.queue.diagnosis import Finding
from ferryman.queue.heartbeat import Pulse
from ferryman.queue.joining import no_database
from ferryman.queue.tenancy import refuse_tenants

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ferryman.backends.sqs.location import Location
    from ferryman.clock import Clock
    from ferryman.filter import Filter
    from ferryman.job import Job
    from ferryman.message import Message
    from ferryman.queue.answers import Acted, Cell, Page, Reaped, Snapshot
    from ferryman.queue.capacity import Limits
    from ferryman.queue.diagnosis import Trouble
    from ferryman.queue.heartbeat import Beat
    from ferryman.queue.settlement import Receipt, Settlement


class DirectBackend:
    """SQS queues and nothing else. Rules of the verbs: `ferryman.queue.contract.Backend`."""

    def __init__(self, location: Location, clock: Clock, calls: Calls | None = None) -> None:
        self._location = location
        self._clock = clock
        self._calls = calls or Calls(location)
        self._queues = Queues(self._calls, location)
        self._bodies = Bodies(location.bodies, location) if location.bodies else None
        self._capabilities = Capabilities(
            backend="sqs",
            durable=True,
            shared=True,
            order="by label",
            transactional_push=False,
            fenced=False,
            max_delay=LONGEST_DELAY,
            browse=False,
            exact_counts=False,
            served=True,
            cells=False,
        )
        self._begin()

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
        if connection is not None:
            raise no_database("sqs without a ledger", "push(connection=…)")
        refuse_tenants(self.capabilities.backend, messages)
        if limits:
            self._refuse("a capacity")
        self._sending.send(messages)
        self._hearing.ring()
        return [Pushed(message.id, "created") for message in messages]

    def poll(
        self,
        worker: str,
        queues: Mapping[str, int],
        *,
        lease: float,
        turn: int = 0,
        skip_tasks: Collection[str] = (),
    ) -> Sequence[Job]:
        return self._claiming.poll(worker, queues, lease=lease, turn=turn, skip_tasks=skip_tasks)

    def heartbeat(
        self, worker: str, beats: Sequence[Beat], *, lease: float, answered: int = -1
    ) -> Sequence[Pulse]:
        claims = [self._held.find(beat.job_id, beat.fence, worker) for beat in beats]
        known = [claim for claim in claims if claim is not None]
        seconds = min(LONGEST_HOLD, ceil(lease))
        errors = self._calls.hide([claim.delivery for claim in known], [seconds] * len(known))
        for claim, error in zip(known, errors, strict=True):
            if isinstance(error, StaleHandle):
                self._held.drop(claim)
            elif error is not None:
                raise error
        lost = self._held.lost(worker, answered, {(beat.job_id, beat.fence) for beat in beats})
        self._calls.hide([claim.delivery for claim in lost], [0] * len(lost))
        for claim in lost:
            self._held.drop(claim)
        return [
            Pulse(
                beat.job_id,
                beat.fence,
                held=self._held.find(beat.job_id, beat.fence, worker) is not None,
            )
            for beat in beats
        ]

    def settle(self, settlements: Sequence[Settlement]) -> Sequence[Receipt]:
        receipts = self._ending.settle(settlements)
        self._hearing.ring()
        return receipts

    def reap(self, limit: int = 1_000) -> Sequence[Reaped]:
        return []  # SQS shows a message again by itself when its lease is over

    def wait(self, queues: Collection[str], timeout: float) -> bool:
        return self._hearing.wait(queues, timeout)

    def wake(self) -> None:
        self._hearing.wake()

    def get(self, job_id: str) -> Job | None:
        self._refuse("get")

    def list(self, where: Filter, *, limit: int = 50, after: str | None = None) -> Page:
        self._refuse("list")

    def depth(self, queue: str, most: int, tenant: str | None = None) -> int:
        self._refuse("depth")

    def snapshot(self) -> Snapshot:
        return count(self._calls, self._queues, self._clock.now())

    def cancel(self, ids: Sequence[str]) -> Sequence[Acted]:
        self._refuse("cancel")

    def pause(self, ids: Sequence[str]) -> Sequence[Acted]:
        self._refuse("pause")

    def resume(self, ids: Sequence[str]) -> Sequence[Acted]:
        self._refuse("resume")

    def retry(self, ids: Sequence[str]) -> Sequence[Acted]:
        self._refuse("retry")

    def delete(self, ids: Sequence[str]) -> Sequence[Acted]:
        self._refuse("delete")

    def restore(self, jobs: Sequence[Job]) -> Sequence[Pushed]:
        self._refuse("restore")

    def pause_queue(self, queue: str) -> None:
        self._refuse("pause_queue")

    def resume_queue(self, queue: str) -> None:
        self._refuse("resume_queue")

    def purge(self, queue: str) -> int:
        """SQS deletes those on their way to workers, too, and counts only roughly."""
        places = self._queues.places(queue)
        waiting = count(self._calls, self._queues, self._clock.now()).queues.get(queue)
        for place in places:
            self._calls.purge(place)
        return 0 if waiting is None else waiting.states.get(State.PENDING, 0)

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
        return 0  # nothing is kept of jobs that have ended

    def read_cells(self, prefix: str) -> Sequence[Cell]:
        self._refuse("read_cells")

    def write_cell(
        self, key: str, value: str | None, *, expect: int | None, ttl: float | None = None
    ) -> Cell | None:
        self._refuse("write_cell")

    def provision(self, queues: Collection[str]) -> Sequence[str]:
        """Make the SQS queues of these queues; their names."""
        return [name for queue in queues for name in self._queues.make(queue)]

    def diagnose(self, *, deep: bool = False) -> Sequence[Finding]:
        return [
            Finding.warning(
                "sqs",
                "there is no ledger: jobs run at least once, a late worker is not stopped, and "
                "nothing can be looked at",
                "add ledger= with the URL of a database, percent-encoded",
            ),
        ]

    def troubles(self) -> Sequence[Trouble]:
        return self._strangers.troubles()

    def close(self) -> None:
        self._hearing.close()
        if held := self._inbox.empty():
            self._calls.hide(held, [0] * len(held))
        self._calls.close()
        if self._bodies is not None:
            self._bodies.close()

    def after_fork(self) -> None:
        """In a child: the locks and the messages that the parent holds are the parent's."""
        self._begin()

    def _begin(self) -> None:
        self._inbox = Inbox()
        self._held = Held()
        self._strangers = Strangers(self._calls, self._location.bare)
        self._hearing = Hearing(self._calls, self._queues, self._inbox)
        self._sending = Sending(self._calls, self._queues, self._bodies, self._clock)
        self._ending = Ending(
            self._calls,
            self._queues,
            self._held,
            self._sending,
            bodies=self._bodies,
        )
        self._claiming = Claiming(
            self._calls,
            Gathering(self._calls, self._queues, self._inbox, self._clock),
            self._held,
            self._ending,
            strangers=self._strangers,
            bodies=self._bodies,
            bare=self._location.bare,
            clock=self._clock,
        )

    def _refuse(self, verb: str) -> NoReturn:
        raise without_ledger(f"{verb} needs a record of every job")
