"""Runs of pipelines, as the command line, the API and the dashboard see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferryman.errors import JobNotFound, NotFound
from ferryman.filter import Filter, Term
from ferryman.message import RUN
from ferryman.pipeline.barrier import in_run
from ferryman.pipeline.run import Run
from ferryman.pipeline.shape import published
from ferryman.service.insights import check_page
from ferryman.service.run_counts import count_run, count_runs
from ferryman.tasks.passage import PIPELINE, STAGE

if TYPE_CHECKING:
    import builtins
    from collections.abc import Mapping, Sequence

    from ferryman.job import Job, State
    from ferryman.pipeline.run import Progress, RunState
    from ferryman.pipeline.shape import Shape
    from ferryman.queue.answers import Page
    from ferryman.queue.contract import Backend
    from ferryman.service.run_counts import RunCount


class RunNotFound(NotFound):
    """No run has this id: never started here, or all its jobs were pruned."""

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"no run {run_id!r}: never started here, or pruned since; `ferryman runs list` shows "
            "what is there"
        )


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in a list; `started_at` is seconds since the epoch.

    `progress` is None where it has so many jobs that they are counted only when it is asked for.
    """

    id: str
    pipeline: str
    state: RunState
    started_at: float
    progress: Progress | None = None


@dataclass(frozen=True, slots=True)
class RunPage:
    """Runs, newest first; `next` goes on after them, None at the end."""

    runs: Sequence[RunRow]
    next: str | None


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
        return self.page(pipeline, limit=limit).runs

    def page(
        self, pipeline: str | None = None, *, limit: int = 20, after: str | None = None
    ) -> RunPage:
        """Runs of one pipeline or of all, newest first; `after` is a page's `next`."""
        check_page(limit)
        shapes = {
            shape.name: shape
            for shape in published(self._backend)
            if pipeline in (None, shape.name)
        }
        firsts, following = self._firsts(shapes, limit, after)
        shape_of = {job.id: shapes[job.meta[PIPELINE]] for job in firsts}
        counts = count_runs(self._backend, shape_of)
        rows = [self._row(job, shape_of[job.id], counts) for job in firsts]
        return RunPage(rows, following)

    def show(self, run_id: str) -> WholeRun:
        """One run; `RunNotFound` if there is none."""
        shapes = {shape.name: shape for shape in published(self._backend)}
        count = count_run(self._backend, run_id, shapes)
        if count is None:
            raise RunNotFound(run_id)
        return WholeRun(run_id, count.shape, count.progress)

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

    def _firsts(
        self, shapes: Mapping[str, Shape], limit: int, after: str | None
    ) -> tuple[Sequence[Job], str | None]:
        """The first jobs of so many runs, and what goes on after them."""
        stages = {shape.first.name for shape in shapes.values()}
        of_pipeline = Term("meta", "is", tuple(shapes), path=(PIPELINE,))
        of_stage = Term("meta", "is", tuple(sorted(stages)), path=(STAGE,))
        found: builtins.list[Job] = []
        while shapes and len(found) < limit:
            where = Filter((of_pipeline, of_stage))
            page = self._backend.list(where, limit=limit - len(found), after=after)
            # A stage that is the first one here may be a later one of another pipeline.
            found += [job for job in page.jobs if job.id == job.meta.get(RUN)]
            after = page.next
            if after is None:
                break
        return found, after if shapes else None

    def _row(self, first: Job, shape: Shape, counts: Mapping[str, RunCount] | None) -> RunRow:
        count = None if counts is None else counts[first.id]
        state = self._run(first.id, shape).state() if count is None else count.state
        progress = None if count is None else count.progress
        return RunRow(first.id, shape.name, state, first.created_at, progress)

    def _run(self, run_id: str, shape: Shape) -> Run:
        return Run(run_id, shape, lambda: self._backend)
