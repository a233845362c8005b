"""The contract on S3, relaxed: claims are local, works offline, at least once between nodes."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING, Final

from ferryman.backends.files.backend import FileBackend
from ferryman.backends.files.disk import LocalDisk
from ferryman.backends.files.location import Location as LocalFolder
from ferryman.backends.files.names import name_of
from ferryman.backends.s3.bucket import Bucket
from ferryman.backends.s3.diagnosis import diagnose
from ferryman.backends.s3.node import Node
from ferryman.backends.s3.opening import check_format, own_root, root_of
from ferryman.backends.s3.patience import Patience
from ferryman.backends.s3.relay import Relay
from ferryman.backends.s3.status import publish
from ferryman.backends.s3.sync import LOOK, Passed
from ferryman.errors import BackendUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from ferryman.backends.s3.location import Location
    from ferryman.clock import Clock
    from ferryman.job import Job
    from ferryman.message import Message
    from ferryman.queue.answers import Pushed
    from ferryman.queue.capabilities import Capabilities
    from ferryman.queue.diagnosis import Finding
    from ferryman.queue.settlement import Receipt, Settlement

AWAY: Final = 30.0
"""Seconds for which a bucket that did not answer is left alone; the supervisor goes on trying."""
HASTY: Final = Patience(connect=1.0, answer=3.0, tries=2, overall=3.0)
"""Nobody waits long for the bucket: the next pass carries what could not be carried at once."""


class RelaxedBackend(FileBackend):
    """Files on this machine, carried to and from a bucket.

    Everything holds on one node as it does for file://. Between nodes a job may run twice: its
    second end is kept under `duplicates/` and counted. Cells and keys are each node's own.
    """

    def __init__(self, location: Location, clock: Clock) -> None:
        root = root_of(location)
        folder = LocalFolder(root)
        super().__init__(folder, LocalDisk(), clock)
        bucket = Bucket(
            location.bucket,
            endpoint=location.endpoint,
            region=location.region,
            patience=HASTY,
        )
        self._node = Node(location, root, bucket, clock)
        own_root(self._node)
        self._relay = Relay(self._node)
        self._checked = False
        self._away_until = float("-inf")
        self._looked = float("-inf")
        self._try(lambda: None)

    @property
    def capabilities(self) -> Capabilities:
        return dataclasses.replace(
            super().capabilities, backend="s3 relaxed", fenced=False, exact_counts=False
        )

    def push(
        self, messages: Sequence[Message], *, connection: object | None = None
    ) -> Sequence[Pushed]:
        pushed = super().push(messages, connection=connection)
        for message, answer in zip(messages, pushed, strict=True):
            if answer.created:
                self._send_task(message)
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
        for queue in queues:
            self._try(lambda queue=queue: self._relay.queue(queue, Passed()))  # type: ignore[misc]
        return super().poll(worker, queues, lease=lease, turn=turn, skip_tasks=skip_tasks)

    def settle(self, settlements: Sequence[Settlement]) -> Sequence[Receipt]:
        receipts = super().settle(settlements)
        for settlement, receipt in zip(settlements, receipts, strict=True):
            if receipt.applied and receipt.state is not None and receipt.state.terminal:
                name = name_of(settlement.job_id)
                for child in settlement.children:
                    self._send_task(child)
                queue = settlement.queue
                self._try(
                    lambda queue=queue, name=name: self._relay.send_record(queue, name)  # type: ignore[misc]
                )
        return receipts

    def sync(self) -> Mapping[str, int | Sequence[str]]:
        with self._node.store.verb():
            self._check()
            passed = self._relay.once()
        self._away_until = float("-inf")
        self._watch.ring()
        return passed.facts()

    def publish(self, node: str, status: Mapping[str, object]) -> None:
        with self._node.store.verb():
            publish(self._node, node, status)

    def diagnose(self, *, deep: bool = False) -> Sequence[Finding]:
        local = super().diagnose(deep=deep)
        with self._node.store.verb():
            return [*local, *diagnose(self._node, deep=deep)]

    def close(self) -> None:
        super().close()
        self._node.close()

    def _send_task(self, message: Message) -> None:
        self._try(lambda: self._relay.send_task(message.queue, name_of(message.id)))

    def _try(self, act: Callable[[], object]) -> None:
        """Do it if the bucket answers; what could not be done is found by the next pass."""
        if time.monotonic() < self._away_until:
            return
        try:
            with self._node.store.verb():
                self._check()
                act()
        except BackendUnavailable:
            self._away_until = time.monotonic() + AWAY

    def _check(self) -> None:
        if not self._checked:
            check_format(self._node)
            self._checked = True
