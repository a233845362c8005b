"""The contract on S3, relaxed: claims are local, works offline, at least once between nodes."""

from __future__ import annotations

import dataclasses
import time
from functools import partial
from typing import TYPE_CHECKING, Final

from ferryman.backends.files.backend import FileBackend
from ferryman.backends.files.disk import LocalDisk
from ferryman.backends.files.location import Location as LocalFolder
from ferryman.backends.files.names import name_of
from ferryman.backends.files.reading import find
from ferryman.backends.s3.bucket import Bucket
from ferryman.backends.s3.diagnosis import diagnose
from ferryman.backends.s3.node import Micros, Node
from ferryman.backends.s3.opening import own_root, root_of
from ferryman.backends.s3.patience import Patience
from ferryman.backends.s3.relay import Relay
from ferryman.backends.s3.skew import NoSkew, Skew
from ferryman.backends.s3.status import publish
from ferryman.backends.s3.sync import LOOK, Passed
from ferryman.clock import SystemClock
from ferryman.errors import BackendUnavailable
from ferryman.job import State
from ferryman.queue.capacity import NO_LIMITS
from ferryman.queue.joining import no_database

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from ferryman.backends.files.disk import Disk
    from ferryman.backends.s3.location import Location
    from ferryman.clock import Clock
    from ferryman.job import Job
    from ferryman.message import Message
    from ferryman.queue.answers import Acted, Pushed
    from ferryman.queue.capabilities import Capabilities
    from ferryman.queue.capacity import Limits
    from ferryman.queue.diagnosis import Finding, Trouble
    from ferryman.queue.settlement import Receipt, Settlement

AWAY: Final = 30.0
"""Seconds for which a bucket that did not answer is left alone; the supervisor goes on trying."""
HASTY: Final = Patience(connect=1.0, answer=3.0, tries=2, overall=3.0)
"""Nobody waits long for the bucket: the next pass carries what could not be carried at once."""
AT_ONCE: Final = 16
"""Jobs that are carried at the same time; after the first that fails no more are tried."""


class RelaxedBackend(FileBackend):
    """Files on this machine, carried to and from a bucket.

    Everything holds on one node as it does for file://. Between nodes a job may run twice: its
    second end is kept under `duplicates/` and counted. Cells and keys are each node's own.
    """

    def __init__(
        self,
        location: Location,
        clock: Clock,
        bucket: Bucket | None = None,
        disk: Disk | None = None,
    ) -> None:
        machine = isinstance(clock, SystemClock)
        # A machine's clock that is not the kernel's must not be taken for the file system's.
        own = Micros(clock) if machine and type(clock) is not SystemClock else clock
        bucket = bucket or Bucket(
            location.bucket, endpoint=location.endpoint, region=location.region, patience=HASTY
        )
        super().__init__(LocalFolder(root_of(location, bucket)), disk or LocalDisk(), own)
        self._node = Node(location, bucket, self._store.clock, self._desk)
        with self._store.verb():
            own_root(self._node)
        skew = (Skew if machine else NoSkew)(bucket.clock(), self._store.clock)
        self._relay = Relay(self._node, skew)
        self._away_until = float("-inf")
        self._looked = float("-inf")
        self._try(self._node.mark.check)

    @property
    def capabilities(self) -> Capabilities:
        return dataclasses.replace(
            super().capabilities, backend="s3 relaxed", fenced=False, exact_counts=False
        )

    def push(
        self,
        messages: Sequence[Message],
        *,
        connection: object | None = None,
        limits: Limits = NO_LIMITS,
    ) -> Sequence[Pushed]:
        if connection is not None:
            raise no_database("s3 relaxed", "push(connection=…)")
        with self._store.verb():
            before = self._where([message.id for message in messages if message.replace])
        pushed = super().push(messages, limits=limits)
        # A replaced job may have moved to another queue.
        self._forget(before.items())
        self._carry(
            [
                partial(self._relay.send_task, message.queue, name_of(answer.id))
                for message, answer in zip(messages, pushed, strict=True)
                if answer.status in ("created", "replaced")
            ]
        )
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
        jobs = super().poll(worker, queues, lease=lease, turn=turn, skip_tasks=skip_tasks)
        if jobs or time.monotonic() - self._looked < LOOK:
            return jobs
        self._looked = time.monotonic()
        passed = Passed()
        self._carry([partial(self._relay.queue, queue, passed) for queue in queues])
        if not passed.changed:
            return jobs
        return super().poll(worker, queues, lease=lease, turn=turn, skip_tasks=skip_tasks)

    def settle(self, settlements: Sequence[Settlement]) -> Sequence[Receipt]:
        receipts = super().settle(settlements)
        ended = [
            settlement
            for settlement, receipt in zip(settlements, receipts, strict=True)
            if receipt.applied and receipt.state is not None and receipt.state.terminal
        ]
        self._carry([partial(self._send_end, settlement) for settlement in ended])
        return receipts

    def cancel(self, ids: Sequence[str]) -> Sequence[Acted]:
        acted = super().cancel(ids)
        self._carry([partial(self._send_state, each.id) for each in acted if not each.refused])
        return acted

    def retry(self, ids: Sequence[str]) -> Sequence[Acted]:
        with self._store.verb():
            for name, queue in self._where(ids).items():
                self._relay.records.note_retry(queue, name)
        acted = super().retry(ids)
        self._carry([partial(self._send_state, each.id) for each in acted if not each.refused])
        return acted

    def delete(self, ids: Sequence[str]) -> Sequence[Acted]:
        with self._store.verb():
            before = self._where(ids)
        acted = super().delete(ids)
        self._forget(before.items())
        return acted

    def purge(self, queue: str) -> int:
        with self._store.verb():
            before = set(self._store.disk.names(self._store.folders(queue).pending) or ())
        purged = super().purge(queue)
        self._forget((name, queue) for name in before)
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
        with self._store.verb():
            before = self._relay.records.names()
        pruned = super().prune(
            older_than=older_than, states=states, keep=keep, limit=limit, spare=spare
        )
        if pruned:
            gone = before - self._relay.records.names()
            self._forget((name, queue) for queue, name in sorted(gone))
        return pruned

    def sync(self) -> Mapping[str, int | Sequence[str]]:
        with self._node.timed():
            self._node.mark.make()
            passed = self._relay.once()
        self._away_until = float("-inf")
        self._watch.ring()
        return passed.facts()

    def publish(self, node: str, status: Mapping[str, object]) -> None:
        with self._store.verb():
            publish(self._node, node, status)

    def troubles(self) -> Sequence[Trouble]:
        """Files that were set aside and objects that cannot be read, each with the reason."""
        local = super().troubles()
        with self._store.verb():
            return [*local, *self._node.troubles.all()]

    def diagnose(self, *, deep: bool = False) -> Sequence[Finding]:
        local = super().diagnose(deep=deep)
        with self._store.verb():
            return [*local, *diagnose(self._node, deep=deep)]

    @property
    def requests(self) -> Mapping[str, int]:
        """Requests sent so far by kind: get, put, delete, list."""
        return self._node.bucket.requests

    def close(self) -> None:
        super().close()
        self._node.close()

    def _send_end(self, settlement: Settlement) -> None:
        for child in settlement.children:
            self._relay.send_task(child.queue, name_of(child.id))
        self._relay.records.send(settlement.queue, name_of(settlement.job_id))

    def _send_state(self, job_id: str) -> None:
        """Carry a job that an operator ended, or began again."""
        found = find(self._store, job_id)
        if found is None:
            return
        folders, row = found
        if row.state.terminal:
            self._relay.records.send(folders.queue, name_of(job_id))
        elif row.state is State.PENDING:
            self._relay.send_task(folders.queue, name_of(job_id))

    def _where(self, ids: Iterable[str]) -> dict[str, str]:
        """The queues of jobs by their names."""
        found = {name_of(job_id): find(self._store, job_id) for job_id in ids}
        return {name: where[0].queue for name, where in found.items() if where is not None}

    def _forget(self, jobs: Iterable[tuple[str, str]]) -> None:
        """Let the bucket forget jobs (name, queue) that are gone here; those that are not stay."""
        with self._store.verb():
            gone = [(queue, name) for name, queue in jobs if self._relay.note_gone(queue, name)]
        self._carry([partial(self._relay.forgotten.send, queue, name) for queue, name in gone])

    def _carry(self, acts: Sequence[Callable[[], object]]) -> None:
        """Do it while the bucket answers; what could not be done is found by the next pass."""
        for start in range(0, len(acts), AT_ONCE):
            batch = acts[start : start + AT_ONCE]
            self._try(lambda batch=batch: self._send(batch))  # type: ignore[misc]

    def _send(self, acts: Sequence[Callable[[], object]]) -> None:
        self._node.mark.make()
        self._node.each(lambda act: act(), acts)

    def _try(self, act: Callable[[], object]) -> None:
        if time.monotonic() < self._away_until:
            return
        try:
            with self._node.timed():
                act()
        except BackendUnavailable:
            self._away_until = time.monotonic() + AWAY
