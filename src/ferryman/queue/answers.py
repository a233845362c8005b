"""What the store answers to producers and operators."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ferryman.frozen import maker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferryman.job import Job, State


@dataclass(frozen=True, slots=True)
class Pushed:
    """What became of one message. `id` is the job's: with a key it may be an earlier one's."""

    id: str
    status: Literal["created", "existing", "replaced", "conflict", "full", "tenant full"]

    @property
    def created(self) -> bool:
        return self.status == "created"


make_pushed = maker(Pushed)


@dataclass(frozen=True, slots=True)
class Reaped:
    """A lease that had expired, or a waiting job past its deadline, and where the job went."""

    id: str
    queue: str
    task: str
    state: State
    worker: str | None


@dataclass(frozen=True, slots=True)
class Acted:
    """What an operator's act did to one job: its state now, or why it was refused.

    `state` is None for a job that does not exist (any more).
    """

    id: str
    state: State | None
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Jobs in push order, newest first; `next` continues after them, None at the end."""

    jobs: tuple[Job, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """Jobs of one queue by state. `scheduled` of the pending ones are not due yet.

    `oldest_ready`: for how many seconds the job that stands longest in line has been due; None if
    none is, or if the store cannot tell (one without `Capabilities.browse`). A job that joined the
    line again, by a resume say, may count from then, and one past its deadline not at all.
    """

    queue: str
    states: Mapping[State, int]
    scheduled: int = 0
    paused: bool = False
    # It grows by itself: two counts between which nothing happened are equal.
    oldest_ready: float | None = field(default=None, compare=False)

    @property
    def ready(self) -> int:
        return self.states.get("pending", 0) - self.scheduled  # type: ignore[call-overload, no-any-return]

    @property
    def total(self) -> int:
        return sum(self.states.values())


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Counts by queue and state at one moment."""

    at: float
    queues: Mapping[str, QueueCounts] = field(default_factory=dict)

    def count(self, state: State, queue: str | None = None) -> int:
        chosen = self.queues.values() if queue is None else filter(None, [self.queues.get(queue)])
        return sum(counts.states.get(state, 0) for counts in chosen)


@dataclass(frozen=True, slots=True)
class Cell:
    """A small shared value. `version` starts at 1 and grows with every write."""

    key: str
    value: str
    version: int
    expires_at: float | None = None
