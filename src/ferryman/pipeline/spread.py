"""Children of a generator: few go with the ack, many are staged in chunks and released by it.

A staged child is there and paused, so that nobody can claim it. Its id names the claim that staged
it, and its `held` mark the release that would follow from that: what an attempt that died has
staged is never released, and swept away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ferryman.ids import child_id
from ferryman.job import Job, State
from ferryman.lifecycle import YOUNGEST_PRUNED
from ferryman.pipeline.lineage import HELD, PARENT, Children, errand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.message import Message
    from ferryman.queue.contract import Backend
    from ferryman.tasks.passage import Held
    from ferryman.tasks.task import Task

RELEASE: Final = "ferryman.release"
SWEEP: Final = "ferryman.sweep"
SWEEP_AFTER: Final = 60.0
CHUNK_BYTES: Final = 1 << 20


def edge_of(stage: str, fence: int) -> str:
    """The edge in the ids of children that were staged under a claim."""
    return f"{stage}@{fence}"


def release_of(parent: Job) -> str:
    """The id of what releases the children staged under the parent's present claim."""
    return child_id(parent.id, parent.generation, RELEASE, str(parent.fence))


def is_released(child: Job, backend: Backend) -> bool:
    """Whether the attempt that staged a child was the one that completed."""
    if backend.get(child.meta[HELD]) is not None:
        return True
    # Files may still owe the release of a parent that has completed.
    parent = backend.get(child.meta[PARENT])
    if parent is None:
        # What is not released is swept within hours: the release of what is older was pruned.
        return backend.clock.now() - child.created_at > YOUNGEST_PRUNED
    return parent.state is State.COMPLETED and release_of(parent) == child.meta[HELD]


class Spreading:
    """Takes the items of one parent; each goes to every stage in `tasks`. `besides` follows too.

    Up to `at_once` items go with the ack; of more, a staged chunk holds so many.
    """

    def __init__(
        self,
        held: Held,
        tasks: Sequence[Task[..., Any]],
        backend: Backend,
        at_once: int,
        besides: tuple[Message, ...] = (),
    ) -> None:
        self._held = held
        self._tasks = tasks
        self._backend = backend
        self._at_once = at_once
        self._besides = besides
        self._direct = [Children(held.job, task) for task in tasks]
        self._staged: list[Children] | None = None
        self._items: list[Any] = []
        self._count = 0

    def add(self, items: Sequence[Any]) -> None:
        for item in items:
            self._items.append(item)
            if len(self._items) > self._at_once:
                self._stage(self._items[: self._at_once])
                del self._items[: self._at_once]

    def end(self) -> tuple[int, tuple[Message, ...]]:
        if self._staged is None:
            self._count = len(self._items)
            children = [
                kind.child(item, index)
                for index, item in enumerate(self._items)
                for kind in self._direct
            ]
            return self._count, (*children, *self._besides)
        self._stage(self._items)
        job = self._held.job
        payload = {
            "parent": job.id,
            "generation": job.generation,
            "edges": [edge_of(task.name, job.fence) for task in self._tasks],
            "count": self._count,
        }
        return self._count, (errand(job, RELEASE, payload, str(job.fence)), *self._besides)

    def _stage(self, items: Sequence[Any]) -> None:
        if self._staged is None:
            self._staged = self._begun()
        now = self._backend.clock.now()
        for kind in self._staged:
            chunk: list[Job] = []
            size = 0
            for index, item in enumerate(items, self._count):
                message = kind.child(item, index)
                chunk.append(_paused(message, now))
                size += len(message.body)
                if size > CHUNK_BYTES:
                    self._restore(chunk)
                    chunk, size = [], 0
            self._restore(chunk)
        self._count += len(items)

    def _begun(self) -> list[Children]:
        """Before anything is staged there is somebody who sweeps it away if this attempt dies."""
        job = self._held.job
        payload = {
            "parent": job.id,
            "fence": job.fence,
            "release": release_of(job),
        }
        self._backend.push([errand(job, SWEEP, payload, str(job.fence), delay=SWEEP_AFTER)])
        marks = {PARENT: job.id, HELD: release_of(job)}
        return [Children(job, task, edge_of(task.name, job.fence), marks) for task in self._tasks]

    def _restore(self, chunk: Sequence[Job]) -> None:
        self._held.safe_point()
        self._backend.restore(chunk)


def _paused(message: Message, now: float) -> Job:
    ready_at = now + message.delay if message.ready_at is None else message.ready_at
    return Job(
        id=message.id,
        queue=message.queue,
        task=message.task,
        body=message.body,
        state=State.PAUSED,
        priority=message.priority,
        ready_at=ready_at,
        seq=0,
        version=message.version,
        attempts=0,
        max_attempts=message.max_attempts,
        fence=0,
        generation=1,
        given_back=0,
        created_at=now,
        deadline=None if message.expires is None else now + message.expires,
        key=message.key,
        backoff=message.backoff,
        timeout=message.timeout,
        correlation_id=message.correlation_id,
        meta=message.meta,
    )
