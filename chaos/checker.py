"""The verdict: plain set arithmetic over acknowledged pushes, handler starts and final states."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from chaos.courier import HANDED
from chaos.handlers import PUSHED
from ferryman import State
from ferryman.ids import child_id
from ferryman.job import TERMINAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from chaos.evidence import Evidence
    from chaos.records import Ended, Started
    from ferryman import Job

_EDGES: Final = {"handover": HANDED, "parent": PUSHED, "parent_async": PUSHED}


class Finding(NamedTuple):
    """A broken promise: of which job (or "" for the store as a whole), and how."""

    id: str
    text: str


def lost(evidence: Evidence) -> Iterator[Finding]:
    """Acknowledged and not in the store: pushes, and children of parents that completed."""
    for pushed in evidence.pushed:
        if pushed.id not in evidence.jobs:
            yield Finding(pushed.id, "its push was acknowledged and it is not in the store")
    for parent_id, generation in _completed(evidence):
        parent = evidence.jobs.get(parent_id)
        for child in children(parent, generation) if parent else ():
            if child not in evidence.jobs:
                yield Finding(child, f"its parent {parent_id} completed and it is not in the store")


def finished_twice(evidence: Evidence) -> Iterator[Finding]:
    """More than one end recorded for one generation, from the receipts and from the final row."""
    for job_id in sorted(evidence.duplicates):
        yield Finding(job_id, "the store keeps a second end of it")
    for job in evidence.jobs.values():
        ends = receipts(evidence, job.id)
        for generation, found in ends.items():
            if len(found) > 1:
                yield Finding(job.id, f"generation {generation} ended {len(found)} times: {found}")
        seen = sum(map(len, ends.values())) + _ends_without_receipt(evidence, job)
        most = job.generation if job.state.terminal else job.generation - 1
        if seen > most:
            yield Finding(job.id, f"{seen} ends were recorded, its generations allow {most}")
        for fence, state, _ in ends.get(job.generation, ()):
            if (fence, state) != (job.fence, job.state):
                yield Finding(
                    job.id,
                    f"claim {fence} ended it as {state}, the store has {job.state} at {job.fence}",
                )
        if job.state is State.COMPLETED and not _is_of_last_claim(job):
            yield Finding(job.id, f"its result {job.result} is not that of claim {job.fence}")


def over_attempts(evidence: Evidence) -> Iterator[Finding]:
    """More charged starts than allowed: every start, less those given back, counts."""
    for job in evidence.jobs.values():
        for course in evidence.courses(job.id):
            for start, charged in _charges(course):
                if charged > job.max_attempts:
                    text = f"claim {start.fence} is charged start {charged} of {job.max_attempts}"
                    yield Finding(job.id, text)
        if job.attempts > job.max_attempts:
            yield Finding(job.id, f"{job.attempts} attempts are charged of {job.max_attempts}")


def early(evidence: Evidence) -> Iterator[Finding]:
    """Starts before the job was due: by its row, by its producer's clock, by the last delay."""
    slack = evidence.terms.clock
    earliest = {pushed.id: pushed.earliest for pushed in evidence.pushed if pushed.earliest}
    for job_id, starts in evidence.started.items():
        due = earliest.get(job_id, 0.0) - slack
        for start in starts:
            if start.at < start.ready_at:
                yield _early(start, start.ready_at, "its ready_at")
            if start.generation == 1 and start.at < due:
                yield _early(start, due, "the push and its delay")
        if evidence.terms.relaxed:
            continue  # another node's claim of the same number may have asked for less
        delays = {end.fence: end.delay for end in evidence.ended.get(job_id, ())}
        for before, start in pairwise(starts):
            # A claim whose end was not applied may start after the next one did: it was frozen.
            delay = delays.get(before.fence)
            same = before.generation == start.generation
            if same and delay is not None and start.at < before.at + delay - slack:
                yield _early(start, before.at + delay, f"the delay of claim {before.fence}")


def unfinished(evidence: Evidence) -> Iterator[Finding]:
    """Jobs without an end, although all faults had stopped and all pauses were lifted."""
    for job in evidence.jobs.values():
        if not job.state.terminal:
            yield Finding(job.id, f"is still {job.state}")


COLUMNS: Final = {
    rule.__name__: rule for rule in (lost, finished_twice, over_attempts, early, unfinished)
}


def receipts(evidence: Evidence, job_id: str) -> Mapping[int, set[tuple[int, str, str]]]:
    """By generation the ends that the store said were applied: fence, state and node."""
    ends: defaultdict[int, set[tuple[int, str, str]]] = defaultdict(set)
    for end in evidence.ended.get(job_id, ()):
        if end.state in TERMINAL and not _is_echo(evidence, end):
            # The same settlement sent twice is answered twice, and ends the job once.
            ends[end.generation].add((end.fence, end.state, end.node))
    return ends


def _is_echo(evidence: Evidence, end: Ended) -> bool:
    """Whether a nack was sent again, and was told how an operator has ended the waiting job since.

    The job's only end is the operator's then: it was over when that act was answered.
    """
    job = evidence.jobs.get(end.id)
    if end.delay is None or job is None or job.finished_at is None:
        return False
    return (end.state, end.generation) == (State.CANCELLED, job.generation) and any(
        (act.id, act.verb, act.state) == (job.id, "cancel", State.CANCELLED)
        and job.finished_at <= act.at
        for act in evidence.acted
    )


def children(parent: Job, generation: int) -> list[str]:
    """The ids that a completed generation of this job must have left behind."""
    edge = _EDGES.get(parent.task)
    if edge is None:
        return []
    count = range(parent.payload["children"])
    return [child_id(parent.id, generation, edge, index) for index in count]


def _completed(evidence: Evidence) -> set[tuple[str, int]]:
    receipts = {
        (end.id, end.generation)
        for ends in evidence.ended.values()
        for end in ends
        if end.state == State.COMPLETED
    }
    rows = {
        (job.id, job.generation) for job in evidence.jobs.values() if job.state is State.COMPLETED
    }
    return receipts | rows


def _ends_without_receipt(evidence: Evidence, job: Job) -> int:
    """Ends by a reaper, and by an operator who cancelled a waiting job."""
    reaped = sum(reap.state in TERMINAL for reap in evidence.reaped.get(job.id, ()))
    return reaped + evidence.cancels[job.id]


def _charges(course: Iterable[Started]) -> Iterator[tuple[Started, int]]:
    """Each start with how many of its generation are charged, by its row and by counting."""
    starts: Counter[int] = Counter()
    for start in course:
        starts[start.generation] += 1
        yield start, max(start.attempts, starts[start.generation] - start.given_back)


def _is_of_last_claim(job: Job) -> bool:
    found = json.loads(job.result or "null")
    return bool(found == {"fence": job.fence, "generation": job.generation})


def _early(start: Started, due: float, what: str) -> Finding:
    return Finding(
        start.id, f"claim {start.fence} started {(due - start.at) * 1e3:.3f} ms before {what}"
    )
