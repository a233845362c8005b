"""Before a stage that collects: a job that waits until all that leads there has ended.

Stages are looked at in order, each until none of its jobs in the run is unfinished. That stays so,
because only earlier stages could bring new ones, and a job that is seen to have ended has handed
over its children. Hence nothing is counted that could be counted twice. Only a retry can undo it,
so all stages are looked at once more in the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ferryman.filter import Filter, Term
from ferryman.job import State
from ferryman.message import RUN
from ferryman.outcomes import Fail, Snooze
from ferryman.pipeline.lineage import errand
from ferryman.tasks.passage import STAGE
from ferryman.tasks.spared import COLLECTS, YES

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ferryman.job import Job
    from ferryman.message import Message
    from ferryman.pipeline.shape import Shape, Stage
    from ferryman.queue.contract import Backend

BARRIER: Final = "ferryman.barrier"
FIRST_LOOK: Final = 0.05
PATIENCE: Final = 0.02
"""Of the time that a barrier has waited: so much later it may notice the end."""
LONGEST: Final = 30.0
TURNS: Final = 900
"""Looks of one barrier; then another takes its place, before it has been given back too often."""

UNFINISHED: Final = (State.PENDING, State.PROCESSING, State.PAUSED)
NOT_COMPLETED: Final = (State.FAILED, State.CANCELLED)


def barriers_of(first: Job, shape: Shape) -> tuple[Message, ...]:
    """The barriers of a run, which follow from its first job."""
    return tuple(_barrier(first, stage, 0) for stage in shape.collecting)


def wait_at(barrier: Job, shape: Shape, backend: Backend) -> Message | None:
    """Return when the stage may begin, or the barrier that takes this one's place; else snooze."""
    stage = shape.by_name[barrier.meta[STAGE]]
    known = barrier.checkpoint() or {"passed": 0, "awaited": None}
    states = UNFINISHED + (NOT_COMPLETED if stage.collects == "wait" else ())
    before = shape.before(stage.name)
    if _still(backend, known["awaited"], states):
        return _not_yet(barrier, stage, backend)
    found = _first(backend, barrier, before, known["passed"], states)
    if found is None and known["passed"]:
        # A job of a stage that was passed may have been retried since.
        found = _first(backend, barrier, before, 0, states)
    if found is not None:
        barrier.checkpoint(found)
        return _not_yet(barrier, stage, backend)
    if stage.collects == "fail":
        _check_completed(backend, barrier, before)
    return None


def in_run(run: str, *stages: str, states: Collection[State] = ()) -> Filter:
    """The jobs of a run, of these stages and in these states; none named means all."""
    terms = [Term("meta", "is", (run,), path=(RUN,))]
    if stages:
        terms.append(Term("meta", "is", stages, path=(STAGE,)))
    if states:
        terms.append(Term("state", "is", tuple(states)))
    return Filter(tuple(terms))


def _barrier(parent: Job, stage: Stage, turn: int) -> Message:
    marks = {STAGE: stage.name, COLLECTS: YES}
    return errand(parent, BARRIER, turn, f"{stage.name}/{turn}", marks=marks, queue=stage.queue)


def _not_yet(barrier: Job, stage: Stage, backend: Backend) -> Message:
    if barrier.given_back >= TURNS:
        return _barrier(barrier, stage, barrier.payload + 1)
    waited = backend.clock.now() - barrier.created_at
    raise Snooze(min(LONGEST, max(FIRST_LOOK, waited * PATIENCE)), "not all has ended")


def _still(backend: Backend, job_id: str | None, states: Collection[State]) -> bool:
    """Whether the job that was awaited last time still is: one look instead of a search."""
    job = None if job_id is None else backend.get(job_id)
    return job is not None and job.state in states


def _first(
    backend: Backend, barrier: Job, before: Sequence[str], passed: int, states: Collection[State]
) -> dict[str, Any] | None:
    """A job to wait for, in the first stage that has one, but for those that were passed."""
    for place in range(passed, len(before)):
        where = in_run(barrier.meta[RUN], before[place], states=states)
        for job in backend.list(where, limit=1).jobs:
            return {"passed": place, "awaited": job.id}
    return None


def _check_completed(backend: Backend, barrier: Job, before: Sequence[str]) -> None:
    where = in_run(barrier.meta[RUN], *before, states=NOT_COMPLETED)
    found = backend.list(where, limit=1).jobs
    if found:
        job = found[0]
        raise Fail(
            f"job {job.id!r} of stage {job.meta[STAGE]!r} is {job.state}: retry the run, "
            "or collect with failed='skip'"
        )
