"""What is judged after a crash: every job is one of what it may be, whole and once."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

from chaos.disk.course import differences, seen
from chaos.disk.steps import lost_reply, message
from ferryman import State
from ferryman.lifecycle import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from chaos.disk.course import Course, Views
    from chaos.disk.steps import Stage, Step
    from ferryman import Job
    from ferryman.queue.contract import Backend

ACKED = '"acked"'
HEALED = '"healed"'
FORGETTING = frozenset({"delete", "purge", "prune"})


def unlike(found: Views, allowed: Mapping[str, Sequence[Job | None]]) -> Iterator[str]:
    """Lost, half changed or invented: jobs that are none of what they may be."""
    for job_id in sorted(found.keys() | allowed.keys()):
        job = found.get(job_id)
        choices = allowed.get(job_id, [None])
        if job not in choices:
            told = "; ".join(dict.fromkeys(differences(job, choice) for choice in choices))
            yield f"{job_id}: found / allowed differ: {told}"


def orphans(found: Views, before: Views) -> Iterator[str]:
    """Children are there if and only if their parent's end is recorded, or was before."""
    for job_id, job in found.items():
        parent = parent_of(job)
        if parent is None or job_id in before or completed(found.get(parent)):
            continue
        yield f"{job_id}: handed over by {parent}, which is not completed"


def missing(found: Views, after: Views, before: Views) -> Iterator[str]:
    """Children whose parent completed, and that are not there even after upkeep."""
    for job_id, job in after.items():
        parent = parent_of(job)
        if parent is None or job_id in found:
            continue
        if job_id in before or completed(found.get(parent)):
            yield f"{job_id}: its parent {parent} completed and it is not there"


def completed(job: Job | None) -> bool:
    """Whether the script's own ack ended it."""
    return job is not None and job.state is State.COMPLETED and job.result == ACKED


def parent_of(job: Job) -> str | None:
    payload = job.payload
    parent = payload.get("parent") if isinstance(payload, dict) else None
    return None if parent is None else str(parent)


def repeated(step: Step, stage: Stage, course: Course) -> Iterator[str]:
    """The act that died is done again by another process; it must answer and end as promised."""
    if step.verb == "poll":
        yield from _polled_again(step, stage, course)
        return
    answers = step.do(stage)
    expected = course.answers[-1]
    if step.verb in {"push", "restore"}:
        if [one.id for one in answers] != [one.id for one in expected]:
            yield f"push answered {answers}, expected {expected}"
        if any(one.status == "conflict" for one in answers):
            yield f"push answered {answers}"
    elif isinstance(step.verb, Verdict) and list(answers) != list(expected):
        yield f"settle answered {answers}, expected {expected}"
    yield from unlike(seen(stage.backend), {i: [v] for i, v in course.views[-1].items()})


def pushed_anew(backend: Backend, course: Course, found: Views) -> Iterator[str]:
    """What was forgotten can be pushed again at once, as if it had never been."""
    for job_id in sorted(course.ids - found.keys()):
        answer = backend.push([message(job_id)])[0]
        if not answer.created:
            yield f"{job_id}: forgotten, and pushing it again answers {answer.status}"


def _polled_again(step: Step, stage: Stage, course: Course) -> Iterator[str]:
    # Its reply was lost: the worker says so, and polls again without a charge.
    lost_reply().do(stage)
    step.do(stage)
    found = seen(stage.backend)
    for job_id, expected in course.views[-1].items():
        job = found.get(job_id)
        if job is None or (job.state, job.attempts) != (expected.state, expected.attempts):
            yield f"polled again: {differences(job, expected)}"


def gathered(findings: Iterator[str]) -> Iterator[str]:
    """The same findings; a recovery that raises is one more."""
    try:
        yield from findings
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        file = where.filename.rpartition("/")[2]
        yield f"raised {error!r} in {where.name} ({file}:{where.lineno})"
