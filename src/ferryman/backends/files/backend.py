"""The contract on files: each verb in the contract's order."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ferryman.backends.files import browse, cells
from ferryman.backends.files.acts import perform, purge
from ferryman.backends.files.counts import depth, snapshot
from ferryman.backends.files.desk import Desk
from ferryman.backends.files.diagnosis import diagnose
from ferryman.backends.files.finish import finish_by_name
from ferryman.backends.files.heartbeat import heartbeat
from ferryman.backends.files.pausing import pause_queue, resume_queue
from ferryman.backends.files.poll import poll
from ferryman.backends.files.prune import prune
from ferryman.backends.files.push import is_new, push
from ferryman.backends.files.quarantine import troubles
from ferryman.backends.files.reap import reap
from ferryman.backends.files.restore import restore
from ferryman.backends.files.settle import settle
from ferryman.backends.files.store import Store
from ferryman.backends.files.watch import Watch
from ferryman.lifecycle import Act, check_prunable
from ferryman.queue.capabilities import Capabilities
from ferryman.queue.capacity import NO_LIMITS, push_within
from ferryman.queue.joining import no_database
from ferryman.queue.tenancy import refuse_tenants

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ferryman.backends.files.disk import Disk
    from ferryman.backends.files.location import Location
    from ferryman.clock import Clock
    from ferryman.filter import Filter
    from ferryman.job import Job, State
    from ferryman.message import Message
    from ferryman.queue.answers import Acted, Cell, Page, Pushed, Reaped, Snapshot
    from ferryman.queue.capacity import Limits
    from ferryman.queue.diagnosis import Finding, Trouble
    from ferryman.queue.heartbeat import Beat, Pulse
    from ferryman.queue.settlement import Receipt, Settlement


class FileBackend:
    """One folder of queues. Rules of the verbs: `ferryman.queue.contract.Backend`."""

    def __init__(self, location: Location, disk: Disk, clock: Clock) -> None:
        self._location = location
        self._store = Store(location.root, disk, clock, shared=location.shared)
        self._capabilities = Capabilities(
            backend="file",
            durable=location.durable,
            shared=True,
            order="windowed",
            transactional_push=False,
            exact_counts=True,
        )
        with self._store.verb():
            location.prepare(disk)
        self._desk = Desk(self._store)
        self._watch = Watch(self._desk)

    @property
    def capabilities(self) -> Capabilities:
        return self._capabilities

    @property
    def clock(self) -> Clock:
        return self._store.clock

    def push(
        self,
        messages: Sequence[Message],
        *,
        connection: object | None = None,
        limits: Limits = NO_LIMITS,
    ) -> Sequence[Pushed]:
        if connection is not None:
            raise no_database("file", "push(connection=…)")
        refuse_tenants(self.capabilities.backend, messages)
        with self._store.verb():
            pushed = self._push_within(limits, messages) if limits else push(self._store, messages)
        self._watch.ring()
        return pushed

    def _push_within(self, limits: Limits, messages: Sequence[Message]) -> list[Pushed]:
        return push_within(
            limits,
            messages,
            partial(push, self._store),
            depth=partial(depth, self._desk),
            is_new=partial(is_new, self._store),
        )

    def depth(self, queue: str, most: int, tenant: str | None = None) -> int:
        with self._store.verb():
            return depth(self._desk, queue, most, tenant)

    def poll(
        self,
        worker: str,
        queues: Mapping[str, int],
        *,
        lease: float,
        turn: int = 0,
        skip_tasks: Collection[str] = (),
    ) -> Sequence[Job]:
        with self._store.verb():
            return poll(self._desk, worker, queues, lease=lease, turn=turn, skip_tasks=skip_tasks)

    def heartbeat(
        self, worker: str, beats: Sequence[Beat], *, lease: float, answered: int = -1
    ) -> Sequence[Pulse]:
        with self._store.verb():
            return heartbeat(self._desk, worker, beats, lease=lease, answered=answered)

    def settle(self, settlements: Sequence[Settlement]) -> Sequence[Receipt]:
        with self._store.verb():
            receipts = settle(self._desk, settlements)
        self._watch.ring()
        return receipts

    def reap(self, limit: int = 1_000) -> Sequence[Reaped]:
        with self._store.verb():
            reaped = reap(self._desk, limit)
        self._watch.ring()
        return reaped

    def wait(self, queues: Collection[str], timeout: float) -> bool:
        with self._store.verb():
            return self._watch.wait(queues, timeout)

    def wake(self) -> None:
        self._watch.wake()

    def get(self, job_id: str) -> Job | None:
        with self._store.verb():
            return browse.get(self._desk, job_id)

    def list(self, where: Filter, *, limit: int = 50, after: str | None = None) -> Page:
        with self._store.verb():
            return browse.list_jobs(self._store, where, limit, after, finish_by_name)

    def snapshot(self) -> Snapshot:
        with self._store.verb():
            return snapshot(self._desk)

    def cancel(self, ids: Sequence[str]) -> Sequence[Acted]:
        return self._perform(Act.CANCEL, ids)

    def pause(self, ids: Sequence[str]) -> Sequence[Acted]:
        return self._perform(Act.PAUSE, ids)

    def resume(self, ids: Sequence[str]) -> Sequence[Acted]:
        return self._perform(Act.RESUME, ids)

    def retry(self, ids: Sequence[str]) -> Sequence[Acted]:
        return self._perform(Act.RETRY, ids)

    def delete(self, ids: Sequence[str]) -> Sequence[Acted]:
        return self._perform(Act.DELETE, ids)

    def restore(self, jobs: Sequence[Job]) -> Sequence[Pushed]:
        with self._store.verb():
            restored = restore(self._store, jobs)
        self._watch.ring()
        return restored

    def pause_queue(self, queue: str) -> None:
        with self._store.verb():
            pause_queue(self._store, queue)

    def resume_queue(self, queue: str) -> None:
        with self._store.verb():
            resume_queue(self._store, queue)
        self._watch.ring()

    def purge(self, queue: str) -> int:
        with self._store.verb():
            return purge(self._desk, queue)

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
        with self._store.verb():
            before = self._store.now() - older_than
            return prune(
                self._store, before, states=states, keep=keep or 0, limit=limit, spare=spare
            )

    def read_cells(self, prefix: str) -> Sequence[Cell]:
        with self._store.verb():
            return cells.read_cells(self._store, prefix)

    def write_cell(
        self, key: str, value: str | None, *, expect: int | None, ttl: float | None = None
    ) -> Cell | None:
        with self._store.verb():
            return cells.write_cell(self._store, key, value, expect=expect, ttl=ttl)

    def troubles(self) -> Sequence[Trouble]:
        """Files that were set aside because they could not be used, each with the reason."""
        with self._store.verb():
            return troubles(self._store)

    def diagnose(self, *, deep: bool = False) -> Sequence[Finding]:
        with self._store.verb():
            return diagnose(self._desk, self._location, deep=deep)

    def close(self) -> None:
        self._watch.close()
        self._store.close()

    def _perform(self, verb: Act, ids: Sequence[str]) -> Sequence[Acted]:
        with self._store.verb():
            acted = [perform(self._desk, job_id, verb) for job_id in ids]
        self._watch.ring()
        return acted
