"""All pipelines of a Ferry: what follows from each job that belongs to a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferryman.errors import TaskError
from ferryman.message import RUN
from ferryman.outcomes import Fail
from ferryman.pipeline.barrier import barriers_of
from ferryman.pipeline.errands import Errands
from ferryman.pipeline.fitting import takes_a_list
from ferryman.pipeline.lineage import Children
from ferryman.pipeline.pauses import Pauses
from ferryman.pipeline.pipeline import Pipeline
from ferryman.pipeline.run import Run
from ferryman.pipeline.spread import SWEEP, Spreading
from ferryman.tasks.passage import PIPELINE, STAGE, is_errand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ferryman.job import Job
    from ferryman.message import Message
    from ferryman.queue.contract import Backend
    from ferryman.tasks.passage import Held, Spread
    from ferryman.tasks.route import Joinable
    from ferryman.tasks.task import Task
    from ferryman.tasks.tasks import Tasks

AT_ONCE = 500


class Pipelines:
    """Pipelines by name, and the `Flow` that a worker of their Ferry follows.

    `at_once` is how many children one ack carries, and one chunk of more than that.
    """

    def __init__(self, tasks: Tasks, backend: Callable[[], Backend]) -> None:
        self.at_once = AT_ONCE
        self._tasks = tasks
        self._backend = backend
        self._pipelines: dict[str, Pipeline] = {}
        self._errands = Errands(self, backend)
        self._pauses = Pauses(backend)

    def declare(self, name: str, parts: Sequence[Joinable]) -> Pipeline:
        """Check a pipeline and keep it."""
        if name in self._pipelines:
            raise TaskError(f"two pipelines are named {name!r}: give one of them another name")
        pipeline = Pipeline(name, parts, self._tasks, self._backend)
        self._pipelines[name] = pipeline
        self._errands.declare(self._tasks, pipeline.shape.first.queue)
        self._tasks.passage = self
        return pipeline

    def __getitem__(self, name: str) -> Pipeline:
        if name not in self._pipelines:
            known = ", ".join(self._pipelines) or "none"
            raise TaskError(f"no pipeline is named {name!r}; this Ferry has {known}")
        return self._pipelines[name]

    def __iter__(self) -> Iterator[Pipeline]:
        return iter(list(self._pipelines.values()))

    # -- the passage, as a worker sees it

    def knows(self, job: Job) -> bool:
        pipeline = self._pipelines.get(job.meta[PIPELINE])
        stage = job.meta[STAGE]
        return pipeline is not None and (stage in pipeline.tasks or is_errand(stage))

    def feeds(self, task: str) -> frozenset[str]:
        shapes = [pipeline.shape for pipeline in self if task in pipeline.tasks]
        fed = frozenset(queue for shape in shapes for queue in shape.fed_by(task))
        # Barriers that fill a queue are gone only when the task has done its work.
        return fed - frozenset(queue for shape in shapes for queue in shape.awaited_in(task))

    def payload(self, job: Job) -> Any:
        if job.task != SWEEP:
            self._pauses.check(job)
        shape = self[job.meta[PIPELINE]].shape
        if is_errand(job.task) or shape.by_name[job.meta[STAGE]].collects is None:
            return job.payload
        run = Run(job.meta[RUN], shape, self._backend)
        # Pruned are those first that ended first, and no job of a run ends before this one.
        if self._backend().get(run.id) is None:
            raise Fail(
                f"job {run.id!r}, with which the run began, was pruned or deleted, so results may "
                "be missing: start the run again, and keep history longer than your longest run"
            )
        return run.results(*shape.by_name[job.meta[STAGE]].after)

    def follow(self, held: Held, value: Any) -> tuple[Message, ...]:
        if value is None:
            return ()
        following = self._next(held.job)
        many = [task for task in following if isinstance(value, list) and not _takes_a_list(task)]
        children = tuple(
            Children(held.job, task).child(value, 0) for task in following if task not in many
        )
        besides = children + self._barriers(held.job)
        spreading = Spreading(held, many, self._backend(), self.at_once, besides)
        spreading.add(value if many else ())
        return spreading.end()[1]

    def spread(self, held: Held) -> Spread:
        job = held.job
        return Spreading(held, self._next(job), self._backend(), self.at_once, self._barriers(job))

    def _next(self, job: Job) -> Sequence[Task[..., Any]]:
        """The stages that go on with what a job returns; those that collect read it themselves."""
        pipeline = self[job.meta[PIPELINE]]
        following = pipeline.shape.next_of(job.meta[STAGE])
        return [pipeline.tasks[stage.name] for stage in following if stage.collects is None]

    def _barriers(self, job: Job) -> tuple[Message, ...]:
        shape = self[job.meta[PIPELINE]].shape
        return barriers_of(job, shape) if job.meta[STAGE] == shape.first.name else ()


def _takes_a_list(task: Task[..., Any]) -> bool:
    taken = task.signature.takes
    return len(taken) == 1 and takes_a_list(next(iter(taken.values())))
