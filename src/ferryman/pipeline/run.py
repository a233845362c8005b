"""One passage of one input through a pipeline: where it is, and what can be done to it."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ferryman.errors import JobNotFound, NotAllowed, StillUnfinished, TaskError
from ferryman.filter import Filter, Term
from ferryman.job import TERMINAL, State
from ferryman.pipeline.barrier import BARRIER, NOT_COMPLETED, UNFINISHED, in_run
from ferryman.pipeline.lineage import HELD, errand
from ferryman.pipeline.pauses import RESUME, set_paused
from ferryman.pipeline.spread import RELEASE, SWEEP, is_released
from ferryman.tasks.passage import STAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from ferryman.job import Job
    from ferryman.pipeline.shape import Shape
    from ferryman.queue.answers import Acted
    from ferryman.queue.contract import Backend

RunState = Literal["running", "paused", "failed", "cancelled", "completed"]

PAGE = 1_000
_FIRST_PAUSE = 0.01
_LONGEST_PAUSE = 0.5


@dataclass(frozen=True, slots=True)
class Progress:
    """The jobs of a run by stage, in the pipeline's order, and by state.

    `began_at` and `ended_at` are of the first job and of the last end so far, by the store's clock.
    """

    stages: Mapping[str, Mapping[State, int]]
    began_at: float | None = None
    ended_at: float | None = None

    @property
    def state(self) -> RunState:
        """`running` while a job is under way or waits; then the worst of what it came to."""
        found = {state for counts in self.stages.values() for state in counts}
        if found & {State.PENDING, State.PROCESSING}:
            return "running"
        for state, name in _WORST:
            if state in found:
                return name
        return "completed"


_WORST: Sequence[tuple[State, RunState]] = (
    (State.PAUSED, "paused"),
    (State.FAILED, "failed"),
    (State.CANCELLED, "cancelled"),
)


class Run:
    """The jobs that follow from the first one, whose id is the run's.

    `created` is False when the id or key already had a run. Every verb asks the store.
    """

    def __init__(
        self, run_id: str, shape: Shape, backend: Callable[[], Backend], created: bool = True
    ) -> None:
        self.id = run_id
        self.created = created
        self._shape = shape
        self._open = backend

    def __repr__(self) -> str:
        return f"Run({self.id!r}, pipeline={self._shape.name!r})"

    @property
    def pipeline(self) -> str:
        return self._shape.name

    @property
    def shape(self) -> Shape:
        """The stages that it goes through."""
        return self._shape

    # -- looking

    def progress(self) -> Progress:
        """Its jobs counted by stage and state; a barrier counts for the stage behind it."""
        counts = {stage.name: Counter[State]() for stage in self._shape.stages}
        is_there = self._there()
        began, ends = None, [0.0]
        for jobs in self._walk(in_run(self.id, *counts)):
            ends = [max(*ends, *(job.finished_at or 0.0 for job in jobs))]
            for job in jobs:
                began = job.created_at if job.id == self.id else began
                # A barrier that did its work is nobody's business any more.
                over = job.task == BARRIER and job.state is State.COMPLETED
                if not over and (job.state is not State.PAUSED or is_there(job)):
                    counts[job.meta[STAGE]][job.state] += 1
        if not any(counts.values()):
            raise JobNotFound(self.id)
        return Progress(counts, began, ends[0] or None)

    def state(self) -> RunState:
        """What the run is now, without counting its jobs."""
        going = (*self._shape.by_name, RELEASE, RESUME)
        # Files are read queue by queue: a job may hand over behind the reader's back, and be over
        # when it is read. The next look finds what followed, unless that did the same a stage on.
        for _ in range(len(self._shape.stages) + 1):
            if self._any(State.PENDING, State.PROCESSING, stages=going):
                return "running"
        found = [state for state in TERMINAL if self._any(state)]
        is_there = self._there()
        paused = self._walk(in_run(self.id, *self._shape.by_name, states=[State.PAUSED]))
        if any(is_there(job) for jobs in paused for job in jobs):
            found.append(State.PAUSED)
        if not found:
            raise JobNotFound(self.id)
        return Progress({"": dict.fromkeys(found, 1)}).state

    def wait(self, timeout: float | None = None) -> RunState:
        """Block until nothing runs or waits any more; `StillUnfinished` after `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        pause = _FIRST_PAUSE
        while (state := self.state()) == "running":
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise StillUnfinished(f"run {self.id!r} still goes on after {timeout:g} s")
            time.sleep(pause if left is None else min(pause, left))
            pause = min(pause * 1.5, _LONGEST_PAUSE)
        return state

    def results(self, *stages: str) -> list[Any]:
        """What the jobs of these stages returned, None left out; by default of the last stages."""
        where = in_run(self.id, *(stages or self._shape.last), states=[State.COMPLETED])
        found = [job for jobs in self._walk(where) for job in jobs if job.task != BARRIER]
        found.sort(key=lambda job: job.seq)
        return [json.loads(job.result) for job in found if job.result is not None]

    # -- acting

    def cancel(self) -> int:
        """Cancel all that waits, and ask what runs to stop; how many jobs were told."""
        told = 0
        # What completes meanwhile hands over, until every job that runs has been told.
        where = in_run(self.id, states=UNFINISHED)
        while more := self._each(self._backend.cancel, where, _can_wait):
            told += more
            if not self._any(State.PENDING, State.PAUSED):
                break
        set_paused(self._backend, self.id, False)
        return told

    def pause(self) -> int:
        """Hold back all that waits and what will be handed over; what runs stops if it can."""
        if not self._any(*UNFINISHED):
            raise NotAllowed(f"run {self.id!r} has ended: there is nothing to pause")
        set_paused(self._backend, self.id, True)
        states = (State.PENDING, State.PROCESSING)
        return self._each(self._backend.pause, in_run(self.id, states=states), _can_wait)

    def resume(self) -> int:
        """Go on with what `pause` held back; staged children wait on for their parent's end."""
        set_paused(self._backend, self.id, False)
        told = self._resume()
        if (job := self._asked()) is not None:
            mark = f"{job.fence}/{self._backend.clock.now()}"
            self._backend.push([errand(job, RESUME, None, mark)])
        return told

    def resume_late(self) -> bool:
        """Go on with what has stopped since `resume`, as `pause` had asked; whether that is all."""
        done = self._asked() is None
        self._resume()
        return done

    def retry(self, stage: str | None = None) -> int:
        """Run again what failed or was cancelled; with a stage, all from there on; how many jobs.

        From a stage: what followed from its jobs is forgotten and made anew, also where it went
        well. Refused while any of that still runs.
        """
        if stage is None:
            failed = in_run(self.id, states=NOT_COMPLETED)
            done = self._retry(failed)
            return done + self._retry_barriers(self._barriers(states=NOT_COMPLETED))
        if stage not in self._shape.by_name:
            known = ", ".join(self._shape.by_name)
            raise TaskError(f"pipeline {self.pipeline!r} has no stage {stage!r}: it has {known}")
        following = self._shape.following(stage)
        if self._any(*UNFINISHED, stages=[stage]) or self._runs_in(following):
            raise NotAllowed(
                f"run {self.id!r} is not done with {stage!r} and what follows: wait, or cancel it"
            )
        barriers: Sequence[Job] = ()
        if following:
            # Those that follow from the first stage's new end, or took another's place, go too.
            if stage != self._shape.first.name:
                barriers = [each for each in self._barriers(following) if each.payload == 0]
            kept = {barrier.id for barrier in barriers}
            where = in_run(self.id, *following)
            self._each(self._backend.delete, where, lambda job: job.id not in kept)
        done = self._retry(in_run(self.id, stage, states=TERMINAL))
        self._retry_barriers(barriers)
        return done

    # -- parts

    @property
    def _backend(self) -> Backend:
        return self._open()

    def _walk(self, where: Filter) -> Iterator[Sequence[Job]]:
        after = None
        while True:
            page = self._backend.list(where, limit=PAGE, after=after)
            if page.jobs:
                yield page.jobs
            if page.next is None:
                return
            after = page.next

    def _any(self, *states: State, stages: Sequence[str] = ()) -> bool:
        names = stages or tuple(self._shape.by_name)
        return bool(self._backend.list(in_run(self.id, *names, states=states), limit=1).jobs)

    def _each(
        self,
        act: Callable[[Sequence[str]], Sequence[Acted]],
        where: Filter,
        chosen: Callable[[Job], bool] = lambda _: True,
    ) -> int:
        done = 0
        for jobs in self._walk(where):
            ids = [job.id for job in jobs if chosen(job)]
            done += sum(one.refused is None for one in act(ids)) if ids else 0
        return done

    def _runs_in(self, stages: Sequence[str]) -> bool:
        """Whether a job of these stages runs; barriers that wait do not count."""
        if not stages:
            return False
        jobs = (
            job for page in self._walk(in_run(self.id, *stages, states=UNFINISHED)) for job in page
        )
        return any(job.task != BARRIER for job in jobs)

    def _resume(self) -> int:
        where = in_run(self.id, states=[State.PAUSED])
        return self._each(self._backend.resume, where, self._there())

    def _asked(self) -> Job | None:
        """A job that runs and will be paused when it stops."""
        running = self._walk(in_run(self.id, states=[State.PROCESSING]))
        return next((job for jobs in running for job in jobs if job.asked == "pause"), None)

    def _retry(self, where: Filter) -> int:
        """Retry jobs; what an attempt that did not complete has staged is forgotten instead."""
        is_there = self._there()
        self._each(self._backend.delete, where, lambda job: not is_there(job))
        return self._each(self._backend.retry, where, lambda job: job.task != BARRIER)

    def _retry_barriers(self, barriers: Sequence[Job]) -> int:
        """In their order, and after all other jobs: they would find those as they had ended."""
        acted = (self._backend.retry([barrier.id])[0] for barrier in barriers)
        return sum(one.refused is None for one in acted)

    def _barriers(
        self, stages: Sequence[str] = (), states: Collection[State] = ()
    ) -> Sequence[Job]:
        terms = in_run(self.id, *stages, states=states).terms
        where = Filter((*terms, Term("task", "is", (BARRIER,))))
        return sorted((job for jobs in self._walk(where) for job in jobs), key=lambda job: job.seq)

    def _there(self) -> Callable[[Job], bool]:
        """Tells whether a job is part of the run, and not only staged by an attempt."""
        released: dict[str, bool] = {}

        def is_there(job: Job) -> bool:
            mark = job.meta.get(HELD)
            if mark is not None and mark not in released:
                released[mark] = is_released(job, self._backend)
            return mark is None or released[mark]

        return is_there


def _can_wait(job: Job) -> bool:
    # A parent that has not heard of the stop yet goes on staging: somebody must sweep after it.
    return job.task != SWEEP
