"""The engine's own jobs in a run: barriers, release and sweeping of staged children, resuming."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from ferryman.filter import Filter, Term
from ferryman.ids import child_id
from ferryman.job import Job, State
from ferryman.message import RUN
from ferryman.outcomes import Snooze
from ferryman.pipeline.barrier import BARRIER, wait_at
from ferryman.pipeline.lineage import HELD, Children
from ferryman.pipeline.pauses import RESUME, is_paused
from ferryman.pipeline.spread import RELEASE, SWEEP, SWEEP_AFTER
from ferryman.tasks.options import Options
from ferryman.tasks.passage import PIPELINE, STAGE, HandOver
from ferryman.tasks.spared import COLLECTS, YES
from ferryman.tasks.task import Task

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman.pipeline.pipeline import Pipeline
    from ferryman.queue.contract import Backend
    from ferryman.tasks.tasks import Tasks

PAGE: Final = 500
LOOK_AGAIN: Final = 3_600.0
"""Seconds after which a sweep looks once more: a frozen worker may have staged one last chunk."""


class Known(Protocol):
    """Where the errands find their pipeline."""

    def __getitem__(self, name: str) -> Pipeline: ...


class Errands:
    """Handlers of the engine's own tasks, declared like any other."""

    def __init__(self, pipelines: Known, backend: Callable[[], Backend]) -> None:
        self._pipelines = pipelines
        self._backend = backend

    def declare(self, tasks: Tasks, queue: str) -> None:
        """Make them known to workers. Each errand stands in a queue of its pipeline."""
        for name, handler in (
            (BARRIER, self._barrier),
            (RELEASE, self._release),
            (SWEEP, self._sweep),
            (RESUME, self._resume),
        ):
            if tasks.get(name) is None:
                tasks.add(Task(handler, name=name, options=Options(queue=queue), tasks=tasks))

    def _barrier(self, turn: int, job: Job) -> HandOver:
        pipeline = self._pipelines[job.meta[PIPELINE]]
        successor = wait_at(job, pipeline.shape, self._backend())
        if successor is not None:
            return HandOver((successor,))
        task = pipeline.tasks[job.meta[STAGE]]
        return HandOver((Children(job, task, marks={COLLECTS: YES}).collecting(),))

    def _release(
        self, parent: str, generation: int, edges: list[str], count: int, job: Job
    ) -> None:
        backend = self._backend()
        for start in range(job.checkpoint() or 0, count, PAGE):
            chunk = range(start, min(start + PAGE, count))
            for edge in edges:
                backend.resume([child_id(parent, generation, edge, index) for index in chunk])
            job.checkpoint(chunk.stop)

    def _sweep(self, parent: str, fence: int, release: str, job: Job) -> None:
        backend = self._backend()
        found = backend.get(parent)
        if backend.get(release) is not None:
            return  # the ack of that claim was applied, and the rest is the release's
        # Files may still owe the release of a parent that has completed.
        living = (State.PROCESSING, State.COMPLETED)
        if found is not None and found.fence == fence and found.state in living:
            raise Snooze(max(SWEEP_AFTER, backend.clock.now() - job.created_at))
        held = Term("meta", "is", (release,), path=(HELD,))
        where = Filter((held, Term("state", "is", (State.PAUSED,))))
        while jobs := backend.list(where, limit=PAGE).jobs:
            acted = backend.delete([each.id for each in jobs])
            if all(each.refused is not None for each in acted):
                break
        if not job.checkpoint():
            job.checkpoint("swept")
            raise Snooze(LOOK_AGAIN)

    def _resume(self, job: Job) -> None:
        backend, run = self._backend(), job.meta[RUN]
        if is_paused(backend, run) or self._pipelines[job.meta[PIPELINE]].run(run).resume_late():
            return
        raise Snooze(max(0.5, 0.1 * (backend.clock.now() - job.created_at)))
