"""A named way of jobs through stages, checked when it is declared."""

from __future__ import annotations

import inspect
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

from ferryman.errors import TaskError, Unsupported
from ferryman.ids import new_id
from ferryman.message import MAX_META, MAX_NAME, RUN, check_name
from ferryman.pipeline.fitting import fits, item_fits
from ferryman.pipeline.run import Run
from ferryman.pipeline.shape import Shape, Stage, publish
from ferryman.tasks.passage import PIPELINE, STAGE
from ferryman.tasks.route import Mention, Route

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ferryman.message import Message
    from ferryman.queue.contract import Backend
    from ferryman.tasks.route import Joinable
    from ferryman.tasks.task import Task
    from ferryman.tasks.tasks import Tasks

OWN_META = 5
"""Entries of `meta` that the engine may need for itself."""


class Pipeline:
    """Stages and the edges between them; `push` starts a run.

    What a stage returns is the next one's input. A list fans out, a job for each item, unless the
    next stage takes a list; what a generator yields always does. None ends that branch.
    """

    def __init__(
        self, name: str, parts: Sequence[Joinable], tasks: Tasks, backend: Callable[[], Backend]
    ) -> None:
        check_name("pipeline", name, MAX_NAME)
        route = Route.of(parts)
        self.tasks = _tasks_of(name, route, tasks)
        self.shape = _shaped(name, route, self.tasks)
        self._group = tasks
        self._backend = backend
        self._published = False
        _check_types(self)

    @property
    def name(self) -> str:
        return self.shape.name

    def __repr__(self) -> str:
        return f"<Pipeline {self.name!r}: {', '.join(self.tasks)}>"

    def push(self, *args: Any, **kwargs: Any) -> Run:
        """Start a run with these arguments for the first stage."""
        return self._start([self._first().message(*args, **kwargs)])[0]

    def push_many(self, items: Iterable[Any]) -> Sequence[Run]:
        """Start a run for each item, as `task.push_many` takes them."""
        return self._start([self._first().message_for(item) for item in items])

    def using(self, **options: Any) -> Pipeline:
        """The same pipeline with other `Options` for the first job of a run.

        Its `id` is the run's; `priority`, `correlation_id` and `meta` go on to all jobs of the run.
        """
        twin: Pipeline = Pipeline.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        first = self.shape.first.name
        twin.tasks = {**self.tasks, first: self.tasks[first].using(**options)}
        return twin

    def run(self, run_id: str) -> Run:
        """A run that was started earlier, perhaps elsewhere."""
        return Run(run_id, self.shape, self._backend)

    def _first(self) -> Task[..., Any]:
        task = self.tasks[self.shape.first.name]
        options = task.options
        if len(options.meta) > MAX_META - OWN_META:
            raise TaskError(f"pipeline {self.name!r}: at most {MAX_META - OWN_META} meta entries")
        run = options.id or new_id()
        own = {RUN: run, PIPELINE: self.name, STAGE: task.name}
        return task.using(id=run, meta={**options.meta, **own})

    def _start(self, messages: Sequence[Message]) -> Sequence[Run]:
        backend = self._backend()
        capabilities = backend.capabilities
        if self.shape.collecting and not capabilities.exact_counts:
            raise Unsupported(
                f"{capabilities.backend}: pipeline {self.name!r} collects, which needs a store "
                "that sees all jobs of a run at once: sqlite://, postgresql:// or file://"
            )
        if capabilities.cells and not self._published:
            publish(backend, self.shape)
            self._published = True
        handles = self._group.push(messages, self.tasks[self.shape.first.name])
        return [Run(each.id, self.shape, self._backend, each.created) for each in handles]


def _tasks_of(name: str, route: Route, tasks: Tasks) -> dict[str, Task[..., Any]]:
    found: dict[str, Task[..., Any]] = {}
    for mention in route.mentions:
        known = tasks.get(mention.name)
        if known is None or (mention.task and mention.task.handler is not known.handler):
            names = ", ".join(sorted(task.name for task in tasks)) or "none"
            raise TaskError(
                f"pipeline {name!r}: unknown stage {mention.name!r}; this Ferry has {names}"
            )
        if mention.task is not None:
            found.setdefault(mention.name, mention.task)
        else:
            found.setdefault(mention.name, known)
    return found


def _shaped(name: str, route: Route, tasks: Mapping[str, Task[..., Any]]) -> Shape:
    after: dict[str, list[str]] = {each: [] for each in tasks}
    for one, other in dict.fromkeys(route.edges):
        after[other].append(one)
    try:
        order = list(TopologicalSorter(after).static_order())
    except CycleError as error:
        circle = " >> ".join(reversed(error.args[1]))
        raise TaskError(f"pipeline {name!r} goes in a circle: {circle}") from None
    collects = _policies(name, route.mentions)
    firsts = [each for each in order if not after[each]]
    if len(firsts) > 1:
        raise TaskError(
            f"pipeline {name!r} has {len(firsts)} first stages ({', '.join(sorted(firsts))}): "
            "a run begins with one, which can lead to all others"
        )
    if firsts[0] in collects:
        raise TaskError(f"pipeline {name!r}: nothing leads to collect({firsts[0]!r})")
    return Shape(
        name,
        tuple(
            Stage(each, tasks[each].options.queue, tuple(after[each]), collects.get(each))
            for each in order
        ),
    )


def _policies(name: str, mentions: Iterable[Mention]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for mention in mentions:
        policy = mention.collects
        if policy is not None and found.setdefault(mention.name, policy) != policy:
            raise TaskError(
                f"pipeline {name!r}: collect({mention.name!r}) has two policies for failed jobs"
            )
    return found


def _check_types(pipeline: Pipeline) -> None:
    for stage in pipeline.shape.stages:
        for before in stage.after:
            problem = _misfit(pipeline.tasks[before], pipeline.tasks[stage.name], stage)
            if problem is not None:
                raise TaskError(
                    f"pipeline {pipeline.name!r}: {before!r} cannot lead to {stage.name!r}: "
                    f"{problem}"
                )


def _misfit(before: Task[..., Any], task: Task[..., Any], stage: Stage) -> str | None:
    returned, taken = before.signature.returns, task.signature.takes
    if stage.collects is not None:
        if _yields(before):
            return "what is yielded becomes jobs of its own, so there is nothing to collect"
        if len(taken) != 1:
            return f"collect needs one parameter, a list, and it has {len(taken)}"
        [annotation] = taken.values()
        if item_fits(returned, annotation):
            return None
        return f"it returns {_named(returned)}, collected into {_named(annotation)}"
    if len(taken) == 0:
        return None
    wanted = next(iter(taken.values())) if len(taken) == 1 else dict[str, Any]
    if fits(returned, wanted):
        return None
    if len(taken) > 1:
        return f"it returns {_named(returned)}, not an object with {', '.join(taken)}"
    return f"it returns {_named(returned)}, and {_named(wanted)} is wanted"


def _yields(task: Task[..., Any]) -> bool:
    handler = task.handler
    return inspect.isgeneratorfunction(handler) or inspect.isasyncgenfunction(handler)


def _named(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)
