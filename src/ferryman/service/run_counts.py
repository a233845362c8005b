"""The jobs of several runs by stage and state, counted in one walk over all of them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from ferryman.filter import Filter, Term
from ferryman.job import State
from ferryman.message import RUN
from ferryman.pipeline.barrier import BARRIER
from ferryman.pipeline.lineage import HELD
from ferryman.pipeline.pauses import RESUME
from ferryman.pipeline.run import PAGE, Progress
from ferryman.pipeline.spread import RELEASE, is_released
from ferryman.tasks.passage import PIPELINE, STAGE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferryman.job import Job
    from ferryman.pipeline.run import RunState
    from ferryman.pipeline.shape import Shape
    from ferryman.queue.contract import Backend

MOST_PAGES: Final = 3
"""Pages of jobs that are read for a list of runs: larger ones are counted when asked for."""
_GOING: Final = (State.PENDING, State.PROCESSING)


class RunCount:
    """The jobs of one run, as far as they were seen."""

    def __init__(self, run_id: str, shape: Shape) -> None:
        self.id = run_id
        self.shape = shape
        self._counts = {stage.name: Counter[State]() for stage in shape.stages}
        self._began: float | None = None
        self._ended = 0.0
        self._errand = False

    def add(self, job: Job, is_part: bool) -> None:
        """Count a job; `is_part`: it is not only staged by an attempt."""
        counts = self._counts.get(job.meta.get(STAGE, ""))
        if counts is None:
            # What releases or resumes others has work to do before the run is over.
            self._errand |= job.task in (RELEASE, RESUME) and job.state in _GOING
            return
        if job.id == self.id:
            self._began = job.created_at
        self._ended = max(self._ended, job.finished_at or 0.0)
        # A barrier that did its work is nobody's business any more.
        over = job.task == BARRIER and job.state is State.COMPLETED
        if is_part and not over:
            counts[job.state] += 1

    @property
    def found(self) -> bool:
        return any(self._counts.values())

    @property
    def progress(self) -> Progress:
        return Progress(self._counts, self._began, self._ended or None)

    @property
    def state(self) -> RunState:
        return "running" if self._errand else self.progress.state


def count_runs(backend: Backend, shapes: Mapping[str, Shape]) -> Mapping[str, RunCount] | None:
    """Runs by id, each with its shape; None where they have too many jobs for a list."""
    counts = {run_id: RunCount(run_id, shape) for run_id, shape in shapes.items()}
    released: dict[str, bool] = {}
    pages = _pages(backend, tuple(counts)) if counts else iter(())
    for number, jobs in enumerate(pages):
        if number == MOST_PAGES:
            return None
        for job in jobs:
            counts[job.meta[RUN]].add(job, _is_part(job, backend, released))
    return counts


def count_run(backend: Backend, run_id: str, shapes: Mapping[str, Shape]) -> RunCount | None:
    """One run of any of these pipelines, by name; None if there is no such run."""
    count: RunCount | None = None
    released: dict[str, bool] = {}
    for jobs in _pages(backend, (run_id,)):
        for job in jobs:
            if count is None and (shape := shapes.get(job.meta.get(PIPELINE, ""))) is not None:
                count = RunCount(run_id, shape)
            if count is not None:
                count.add(job, _is_part(job, backend, released))
    return count if count is not None and count.found else None


def _pages(backend: Backend, runs: Sequence[str]) -> Iterator[Sequence[Job]]:
    where = Filter((Term("meta", "is", tuple(runs), path=(RUN,)),))
    after = None
    while True:
        page = backend.list(where, limit=PAGE, after=after)
        yield page.jobs
        if page.next is None:
            return
        after = page.next


def _is_part(job: Job, backend: Backend, released: dict[str, bool]) -> bool:
    mark = job.meta.get(HELD)
    if mark is None or job.state is not State.PAUSED:
        return True
    if mark not in released:
        released[mark] = is_released(job, backend)
    return released[mark]
