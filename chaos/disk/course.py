"""How every job must look after each step of a script, as the memory backend says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from chaos.disk.steps import Stage
from ferryman import State
from ferryman.backends.memory.backend import MemoryBackend
from ferryman.filter import Filter
from ferryman.testing import FakeClock

if TYPE_CHECKING:
    from chaos.disk.steps import Step
    from ferryman import Job
    from ferryman.queue.contract import Backend

Views = dict[str, "Job"]
Allowed = Mapping[str, Sequence["Job | None"]]


@dataclass(frozen=True, slots=True)
class Course:
    """`views[n]` is every job after n steps at `times[n]`, `answers[n]` the answer to step n."""

    steps: Sequence[Step]
    views: Sequence[Views]
    times: Sequence[float]
    answers: Sequence[Any]

    @classmethod
    def of(cls, steps: Sequence[Step]) -> Course:
        clock = FakeClock()
        stage = Stage(MemoryBackend(clock), clock)
        views: list[Views] = [{}]
        times = [clock.now()]
        answers = []
        for step in steps:
            answers.append(step.do(stage))
            views.append(seen(stage.backend))
            times.append(clock.now())
        return cls(steps, views, times, answers)

    @property
    def ids(self) -> set[str]:
        return {job_id for views in self.views for job_id in views}

    def after_crash(self, step: int) -> Allowed:
        """What each job may be when a process died in a step: as before it, or as after it."""
        return self._between(dict.fromkeys(self.ids, step), step)

    def after_loss(self, step: int) -> Allowed:
        """The same for a loss of power, which also takes claims and reports that were not synced.

        They go back at most to the last lasting step that changed the job. What a claim reported
        may outlive the claim, or the lease that it was written with.
        """
        since = {job_id: self._lasting(job_id, step) for job_id in self.ids}
        between = self._between(since, step)
        return {job_id: [*jobs, *_outlived(jobs)] for job_id, jobs in between.items()}

    def _between(self, since: Mapping[str, int], step: int) -> Allowed:
        return {
            job_id: [views.get(job_id) for views in self.views[first : step + 2]]
            for job_id, first in since.items()
        }

    def _lasting(self, job_id: str, step: int) -> int:
        for number in range(step, 0, -1):
            before, after = self.views[number - 1], self.views[number]
            if self.steps[number - 1].lasting and before.get(job_id) != after.get(job_id):
                return number
        return 0


def _outlived(jobs: Sequence[Job | None]) -> Iterator[Job]:
    """Jobs with the report of a claim that wait as before it, or whose lease is an earlier one.

    A checkpoint is synced, the lease that was prolonged with it is not.
    """
    waiting = [job for job in jobs if job is not None and job.state is State.PENDING]
    claimed = [job for job in jobs if job is not None and job.state is State.PROCESSING]
    for claim in claimed:
        report = {name: getattr(claim, name) for name in _REPORTED}
        earlier = [job for job in claimed if job.fence == claim.fence]
        for job in [*waiting, *earlier]:
            yield replace(job, **report)


_REPORTED: Final = ("started_at", "percent", "note", "stored_checkpoint", "logs")


def seen(backend: Backend) -> Views:
    """Every job of a store, whole. Push numbers are each store's own."""
    jobs = backend.list(Filter(), limit=10_000).jobs
    whole = {job.id: backend.get(job.id) for job in jobs}
    return {job_id: plain(job) for job_id, job in whole.items() if job is not None}


def plain(job: Job) -> Job:
    # Of what people drop, nobody can say when it was made.
    if job.payload == {"by": "hand"}:
        return replace(job, seq=0, run=None, created_at=0.0, ready_at=0.0)
    return replace(job, seq=0, run=None)


def jobs_after(*steps: Step) -> Sequence[Job]:
    """Every job as the reference has it after these steps."""
    return list(Course.of(steps).views[-1].values())


def differences(one: Job | None, two: Job | None) -> str:
    """The fields in which two views of a job differ."""
    if one is None or two is None:
        return f"{one and one.state} / {two and two.state}"
    names = [name for name in one.__slots__ if name != "run"]
    told = [(name, getattr(one, name), getattr(two, name)) for name in names]
    return ", ".join(f"{name} {a!r} / {b!r}" for name, a, b in told if a != b) or "nothing"
