"""What the processes of a campaign write down, each fact as soon as they know it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ferryman import Job


class Tried(NamedTuple):
    """A producer is about to push this step of its script: from now on it may have happened."""

    producer: str
    step: int


class Pushed(NamedTuple):
    """A push was acknowledged. `earliest`: no start of the job may come before; 0 is unknown."""

    step: int
    id: str
    token: str
    earliest: float


class Started(NamedTuple):
    """A handler began; the claim as the handler saw it. `at` and `claimed_at` are wall time."""

    id: str
    fence: int
    generation: int
    attempts: int
    given_back: int
    ready_at: float
    claimed_at: float
    at: float
    worker: str
    queue: str
    checkpoint: int
    node: str

    @classmethod
    def of(cls, job: Job, node: str, checkpoint: int = 0) -> Started:
        return cls(
            id=job.id,
            fence=job.fence,
            generation=job.generation,
            attempts=job.attempts,
            given_back=job.given_back,
            ready_at=job.ready_at,
            claimed_at=job.started_at or 0.0,
            at=time.time(),
            worker=job.worker or "",
            queue=job.queue,
            checkpoint=checkpoint,
            node=node,
        )


class Saved(NamedTuple):
    """A checkpoint was acknowledged."""

    id: str
    fence: int
    checkpoint: int


class Returned(NamedTuple):
    """A handler came to its end and is about to say so: the job's work is done."""

    id: str
    fence: int


class Ended(NamedTuple):
    """The store applied the end of a claim; `state` is where it left the job."""

    id: str
    fence: int
    generation: int
    state: str
    delay: float | None
    node: str


class Refused(NamedTuple):
    """The store said that the lease of a claim is lost."""

    id: str
    fence: int


class Reaped(NamedTuple):
    """A reaper ended the claim of a worker that was gone, or a job past its deadline."""

    id: str
    state: str


class Asked(NamedTuple):
    """An operator is about to act: from `at` on it may have happened."""

    step: int
    verb: str
    id: str
    at: float


class Acted(NamedTuple):
    """An operator's act was answered at `at`; `id` is the queue's name for acts on queues.

    `state` is where the act left the job; None: refused, or an act on a queue.
    """

    step: int
    verb: str
    id: str
    state: str | None
    at: float


Record = Tried | Pushed | Started | Saved | Returned | Ended | Refused | Reaped | Asked | Acted

KINDS: dict[str, type[Record]] = {
    kind.__name__: kind
    for kind in (Tried, Pushed, Started, Saved, Returned, Ended, Refused, Reaped, Asked, Acted)
}
