"""Copies jobs to another store: the source is only read, and goes on working."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ferryman.job import WAITING
from ferryman.service.move.intake import is_further, take_in
from ferryman.service.move.report import Carried, Left, Step, Tell, say_nothing
from ferryman.service.move.survey import Survey
from ferryman.service.move.unusable import unusable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.filter import Filter
    from ferryman.job import Job
    from ferryman.queue.contract import Backend

PAGE: Final = 100


def copy(
    source: Backend,
    target: Backend,
    where: Filter,
    *,
    refresh: bool = False,
    tell: Tell = say_nothing,
) -> Carried:
    """Copy the jobs that match, in push order, each as it is when its turn comes.

    A job that the target has already stays as it is there; with `refresh` it is replaced where more
    has happened to it at the source. Called again, it adds what is missing.
    """
    found = Survey.of(source, where)
    tell(Step("found", len(found.ids)))
    carried = existing = 0
    left: list[Left] = []
    for start in range(0, len(found.ids), PAGE):
        jobs = [job for job in map(source.get, found.ids[start : start + PAGE]) if job is not None]
        created, known, refused = take_in(target, jobs)
        renewed, lost = _refresh(target, known) if refresh else (0, [])
        left += [*refused, *lost]
        existing += len(known) - renewed - len(lost)
        carried += len(created) + len(known) - len(lost)
        tell(Step("carried", len(jobs)))
    return Carried(carried, existing, [*left, *unusable(source, where)])


def _refresh(target: Backend, jobs: Sequence[Job]) -> tuple[int, list[Left]]:
    """Replace older records; how many, and those whose place was taken in between."""
    older = [job for job in jobs if _is_older(target.get(job.id), job)]
    if not older:
        return 0, []
    target.delete([job.id for job in older])
    created, _, refused = take_in(target, older)
    return len(created), refused


def _is_older(there: Job | None, job: Job) -> bool:
    if there is None or is_further(job, there):
        return True
    # Pausing and resuming leave no trace but the state itself.
    return {there.state, job.state} == WAITING and not is_further(there, job)
