"""Children as they follow from a parent: their ids, their meta, their options."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from ferryman.errors import InvalidMessage
from ferryman.ids import child_id
from ferryman.message import RUN, Message, encode
from ferryman.outcomes import Fail
from ferryman.tasks.passage import PIPELINE, STAGE
from ferryman.tasks.spared import COLLECTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferryman.job import Job
    from ferryman.tasks.task import Task

PARENT: Final = "parent"
HELD: Final = "held"
"""In the `meta` of a staged child: its parent, and the id of what would release it."""

_OWN: Final = frozenset({RUN, PIPELINE, STAGE, PARENT, HELD, COLLECTS})


class Children:
    """Makes the messages of one parent for one stage; `marks` go into their meta.

    A stage's own priority counts; where it has none, the run's is passed on.
    """

    def __init__(
        self,
        parent: Job,
        task: Task[..., Any],
        edge: str | None = None,
        marks: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        meta = {**inherited(parent), STAGE: task.name, **marks}
        self._task = task.using(
            id=None,
            meta=meta,
            correlation_id=parent.correlation_id,
            priority=task.options.priority or parent.priority,
        )
        self._parent = parent
        self._edge = edge or task.name
        self._pattern: Message | None = None

    def child(self, payload: Any, index: int) -> Message:
        """One child, its payload checked against what the stage takes."""
        message_id = child_id(self._parent.id, self._parent.generation, self._edge, index)
        if self._task.signature.arity == 0:
            payload = None
        try:
            if self._pattern is None:
                self._pattern = self._task.message_of(payload)
            else:
                self._task.signature.check(payload)
            return self._pattern.again(encode(payload), message_id)
        except InvalidMessage as error:
            # No later attempt with the same code would fit better.
            raise Fail(f"what it returned does not fit {self._task.name!r}: {error}") from None

    def collecting(self) -> Message:
        """The only child of a barrier: what it takes is read from the store when it runs."""
        message_id = child_id(self._parent.id, self._parent.generation, self._edge, 0)
        return self._task.unfilled(message_id)


def inherited(parent: Job) -> Mapping[str, str]:
    """The meta that every job of a run has: the user's own, the run and the pipeline."""
    kept = {name: value for name, value in parent.meta.items() if name not in _OWN}
    return {**kept, RUN: parent.meta[RUN], PIPELINE: parent.meta[PIPELINE]}


def errand(
    parent: Job,
    task: str,
    payload: Any,
    mark: str,
    *,
    marks: Mapping[str, str] = MappingProxyType({}),
    **options: Any,
) -> Message:
    """A job of the engine's own that follows from a parent, in the parent's queue."""
    return Message(
        id=child_id(parent.id, parent.generation, task, mark),
        task=task,
        body=encode(payload),
        priority=parent.priority,
        correlation_id=parent.correlation_id,
        max_attempts=PATIENT,
        backoff="0.5,2.0,60.0,0.1",
        meta={**inherited(parent), STAGE: task, **marks},
        **{"queue": parent.queue, **options},
    )


PATIENT: Final = 1_000
"""Attempts of the engine's own jobs: nothing but an outage makes them fail."""
