"""How the jobs of a run go on: what the worker asks, and pipelines answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from ferryman.message import RUN

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ferryman.job import Job
    from ferryman.message import Message

PIPELINE: Final = "pipeline"
STAGE: Final = "stage"
"""The names in a job's `meta` under which it belongs to a run, with `message.RUN`."""
_ERRANDS: Final = "ferryman."


def is_errand(task: str) -> bool:
    """Whether jobs of this task are the engine's own; no handler of a user is named so."""
    return task.startswith(_ERRANDS)


def in_a_run(job: Job) -> bool:
    """Whether a pipeline decides what follows from this job."""
    meta = job.meta
    return bool(meta) and RUN in meta and PIPELINE in meta and STAGE in meta


@dataclass(frozen=True, slots=True)
class HandOver:
    """What an engine's own handler returns: the children, ready-made."""

    children: tuple[Message, ...] = ()


class Held(Protocol):
    """The claim under which children are staged."""

    @property
    def job(self) -> Job: ...

    def safe_point(self) -> None:
        """Unwinds the handler where it was told to stop, or its lease is lost."""
        ...


class Spread(Protocol):
    """Children of a generator on their way, in chunks."""

    def add(self, items: Sequence[Any]) -> None:
        """Take plain JSON values; where there are many they are staged, held until the ack."""
        ...

    def end(self) -> tuple[int, tuple[Message, ...]]:
        """How many items there were, and what the ack has to hand over."""
        ...


class Passage(Protocol):
    """Pipelines, as the worker sees them. Every call may ask the store and block."""

    def knows(self, job: Job) -> bool:
        """Whether the pipeline and the stage of a job are declared here."""
        ...

    def feeds(self, task: str) -> Collection[str]:
        """The queues into which jobs of a task lead: while one is full, it should rest."""
        ...

    def payload(self, job: Job) -> Any:
        """What the handler is given: the job's own payload, or what a stage collects."""
        ...

    def follow(self, held: Held, value: Any) -> tuple[Message, ...]:
        """The children of a job that returned this plain JSON value."""
        ...

    def spread(self, held: Held) -> Spread:
        """Take the children of a job that yields them."""
        ...
