"""Runs of pipelines, as the command line, the API and the dashboard see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferryman.errors import JobNotFound, NotFound
from ferryman.filter import Filter, Term
from ferryman.pipeline.barrier import in_run
from ferryman.pipeline.run import Run
from ferryman.pipeline.shape import published
from ferryman.service.insights import check_page
from ferryman.tasks.passage import PIPELINE, STAGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.job import Job, State
    from ferryman.pipeline.run import Progress, RunState
    from ferryman.pipeline.shape import Shape
    from ferryman.queue.answers import Page
    from ferryman.queue.contract import Backend


class RunNotFound(NotFound):
    """No run has this id: never started here, or all its jobs were pruned."""

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"no run {run_id!r}: never started here, or pruned since; `ferryman runs list` shows "
            "what is there"
        )


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in a list; `started_at` is seconds since the epoch."""

    id: str
    pipeline: str
    state: RunState
    started_at: float


class PipelineNotFound(NotFound):
    """No pipeline of this name has had a run in this store."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no pipeline {name!r} has had a run in this store")


@dataclass(frozen=True, slots=True)
class WholeRun:
    """A run with its jobs counted by stage."""

    id: str
    shape: Shape
    progress: Progress

    @property
    def pipeline(self) -> str:
        return self.shape.name


class Runs:
    """The runs of one store, found by what their jobs say: the app's code is not needed."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def pipelines(self) -> Sequence[Shape]:
        """The pipelines that have had runs, by name."""
        return published(self._backend)

    def pipeline(self, name: str) -> Shape:
        """One of them, or `PipelineNotFound`."""
        for shape in self.pipelines():
            if shape.name == name:
                return shape
        raise PipelineNotFound(name)

    def jobs(
        self,
        run_id: str,
        *,
        stage: str | None = None,
        state: State | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> Page:
        """The jobs of a run, newest first; of one stage or in one state."""
        check_page(limit)
        stages = () if stage is None else (stage,)
        where = in_run(run_id, *stages, states=() if state is None else (state,))
        return self._backend.list(where, limit=limit, after=after)

    def list(self, pipeline: str | None = None, *, limit: int = 20) -> Sequence[RunRow]:
        """The newest runs, of one pipeline or of all."""
        check_page(limit)
        shapes = [each for each in published(self._backend) if pipeline in (None, each.name)]
        firsts = [(job, shape) for shape in shapes for job in self._firsts(shape, limit)]
        firsts.sort(key=lambda each: each[0].seq, reverse=True)
        return [
            RunRow(job.id, shape.name, self._run(job.id, shape).state(), job.created_at)
            for job, shape in firsts[:limit]
        ]

    def show(self, run_id: str) -> WholeRun:
        """One run; `RunNotFound` if there is none."""
        run = self.find(run_id)
        return WholeRun(run.id, run.shape, run.progress())

    def find(self, run_id: str) -> Run:
        """The run, to act on; `RunNotFound` if there is none."""
        found = self._backend.list(in_run(run_id), limit=1).jobs
        name = found[0].meta.get(PIPELINE) if found else None
        for shape in published(self._backend):
            if shape.name == name:
                run = self._run(run_id, shape)
                try:
                    run.state()
                except JobNotFound:
                    break
                return run
        raise RunNotFound(run_id)

    def _firsts(self, shape: Shape, limit: int) -> Sequence[Job]:
        of_pipeline = Term("meta", "is", (shape.name,), path=(PIPELINE,))
        of_stage = Term("meta", "is", (shape.first.name,), path=(STAGE,))
        return self._backend.list(Filter((of_pipeline, of_stage)), limit=limit).jobs

    def _run(self, run_id: str, shape: Shape) -> Run:
        return Run(run_id, shape, lambda: self._backend)
