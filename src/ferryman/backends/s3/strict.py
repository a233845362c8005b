"""The contract on S3, strict: the bucket decides every race, the local tree is its mirror."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from ferryman.backends.files import browse
from ferryman.backends.files.counts import depth, snapshot
from ferryman.backends.files.quarantine import troubles
from ferryman.backends.s3.acts import perform, purge
from ferryman.backends.s3.diagnosis import diagnose
from ferryman.backends.s3.errors import UnreadableObject
from ferryman.backends.s3.find import find
from ferryman.backends.s3.heartbeat import heartbeat
from ferryman.backends.s3.history import prune
from ferryman.backends.s3.node import Node, mirror_desk
from ferryman.backends.s3.opening import prepare, root_of
from ferryman.backends.s3.poll import poll
from ferryman.backends.s3.push import is_new, push
from ferryman.backends.s3.reap import reap
from ferryman.backends.s3.restore import restore
from ferryman.backends.s3.settle import settle, take_over
from ferryman.backends.s3.status import publish
from ferryman.backends.s3.watch import Watch
from ferryman.clock import SystemClock
from ferryman.lifecycle import Act, check_prunable
from ferryman.queue.capabilities import Capabilities
from ferryman.queue.capacity import NO_LIMITS, push_within
from ferryman.queue.joining import no_database
from ferryman.queue.tenancy import refuse_tenants

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ferryman.backends.files.disk import Disk
    from ferryman.backends.s3.bucket import Bucket
    from ferryman.backends.s3.location import Location
    from ferryman.clock import Clock
    from ferryman.filter import Filter
    from ferryman.job import Job, State
    from ferryman.message import Message
    from ferryman.queue.answers import Acted, Cell, Page, Pushed, Reaped, Snapshot
    from ferryman.queue.capacity import Limits
    from ferryman.queue.diagnosis import Finding, Trouble
    from ferryman.queue.heartbeat import Beat, Pulse
    from ferryman.queue.settlement import Receipt, Settlement

CAPABILITIES: Final = Capabilities(
    backend="s3",
    durable=True,
    shared=True,
    order="windowed",
    transactional_push=False,
    exact_counts=False,
    served=True,
)


class StrictBackend:
    """Queues in one bucket. Rules of the verbs: `ferryman.queue.contract.Backend`."""

    def __init__(
        self, location: Location, bucket: Bucket, clock: Clock, disk: Disk | None = None
    ) -> None:
        # The store's time is the server's, unless another was injected.
        time = bucket.clock() if isinstance(clock, SystemClock) else clock
        self._node = Node(
            location, bucket, time, mirror_desk(root_of(location, bucket), time, disk)
        )
        with self._node.store.verb():
            prepare(self._node)
        self._watch = Watch(self._node)

    @property
    def capabilities(self) -> Capabilities:
        return CAPABILITIES

    @property
    def clock(self) -> Clock:
        return self._node.clock

    def push(
        self,
        messages: Sequence[Message],
        *,
        connection: object | None = None,
        limits: Limits = NO_LIMITS,
    ) -> Sequence[Pushed]:
        if connection is not None:
            raise no_database("s3", "push(connection=…)")
        refuse_tenants(self.capabilities.backend, messages)
        with self._node.timed():
            if limits:
                self._look_around()
            pushed = push_within(
                limits,
                messages,
                partial(push, self._node),
                depth=partial(depth, self._node.desk),
                is_new=partial(is_new, self._node),
            )
        self._watch.ring()
        return pushed

    def depth(self, queue: str, most: int, tenant: str | None = None) -> int:
        with self._node.store.verb():
            self._look_around()
            return depth(self._node.desk, queue, most, tenant)

    def poll(
        self,
        worker: str,
        queues: Mapping[str, int],
        *,
        lease: float,
        turn: int = 0,
        skip_tasks: Collection[str] = (),
    ) -> Sequence[Job]:
        with self._node.timed():
            return poll(self._node, worker, queues, lease=lease, turn=turn, skip_tasks=skip_tasks)

    def heartbeat(
        self, worker: str, beats: Sequence[Beat], *, lease: float, answered: int = -1
    ) -> Sequence[Pulse]:
        with self._node.timed():
            pulses = heartbeat(self._node, worker, beats, lease=lease, answered=answered)
        self._watch.ring()
        return pulses

    def settle(self, settlements: Sequence[Settlement]) -> Sequence[Receipt]:
        with self._node.timed():
            receipts = settle(self._node, settlements)
        self._watch.ring()
        return receipts

    def reap(self, limit: int = 1_000) -> Sequence[Reaped]:
        with self._node.timed():
            reaped = reap(self._node, limit)
        self._watch.ring()
        return reaped

    def wait(self, queues: Collection[str], timeout: float) -> bool:
        with self._node.timed():
            return self._watch.wait(queues, timeout)

    def wake(self) -> None:
        self._watch.wake()

    def get(self, job_id: str) -> Job | None:
        with self._node.store.verb():
            try:
                sight = find(self._node, job_id)
            except UnreadableObject as unreadable:
                if unreadable.ended is None:
                    raise
                return unreadable.ended.row.job(whole=True)
            if sight is None:
                return None
            if sight.owed:
                take_over(self._node, sight)
            return sight.row.job(whole=True)

    def list(self, where: Filter, *, limit: int = 50, after: str | None = None) -> Page:
        with self._node.store.verb():
            self._look_around()
            return browse.list_jobs(self._node.store, where, limit, after)

    def snapshot(self) -> Snapshot:
        with self._node.store.verb():
            self._look_around()
            self._node.pausing.refresh(self._node.store.queues())
            return snapshot(self._node.desk)

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
        with self._node.timed():
            restored = restore(self._node, jobs)
        self._watch.ring()
        return restored

    def pause_queue(self, queue: str) -> None:
        with self._node.store.verb():
            self._node.pausing.pause(queue)

    def resume_queue(self, queue: str) -> None:
        with self._node.store.verb():
            self._node.pausing.resume(queue)
        self._watch.ring()

    def purge(self, queue: str) -> int:
        with self._node.store.verb():
            return purge(self._node, queue)

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
        with self._node.store.verb():
            before = self._node.store.now() - older_than
            return prune(
                self._node, before, states=states, keep=keep or 0, limit=limit, spare=spare
            )

    def read_cells(self, prefix: str) -> Sequence[Cell]:
        with self._node.store.verb():
            return self._node.cells.read(prefix)

    def write_cell(
        self, key: str, value: str | None, *, expect: int | None, ttl: float | None = None
    ) -> Cell | None:
        with self._node.store.verb():
            return self._node.cells.write(key, value, expect=expect, ttl=ttl)

    def sync(self) -> Mapping[str, int | Sequence[str]]:
        with self._node.store.verb():
            passed = self._node.sync.once()
        self._watch.ring()
        return passed.facts()

    def publish(self, node: str, status: Mapping[str, object]) -> None:
        with self._node.store.verb():
            publish(self._node, node, status)

    def troubles(self) -> Sequence[Trouble]:
        """Files that were set aside and objects that cannot be read, each with the reason."""
        with self._node.store.verb():
            return [*troubles(self._node.store), *self._node.troubles.all()]

    def diagnose(self, *, deep: bool = False) -> Sequence[Finding]:
        with self._node.store.verb():
            return diagnose(self._node, deep=deep)

    @property
    def requests(self) -> Mapping[str, int]:
        """Requests sent so far by kind: get, put, delete, list."""
        return self._node.bucket.requests

    def close(self) -> None:
        self._watch.close()
        self._node.close()

    def _perform(self, verb: Act, ids: Sequence[str]) -> Sequence[Acted]:
        with self._node.timed():
            acted = perform(self._node, verb, ids)
        self._watch.ring()
        return acted

    def _look_around(self) -> None:
        self._node.mark.check()
        self._node.sync.at_least_recent()
        self._node.sync.resolve_doubts()
