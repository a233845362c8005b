"""One page of jobs from the source to the target: at any moment only one of them can run a job."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ferryman.job import WAITING, State
from ferryman.queue.arrival import arrive, as_message
from ferryman.service.move.intake import is_further, take_in
from ferryman.service.move.report import Left

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.job import Job
    from ferryman.queue.contract import Backend
    from ferryman.service.move.journal import Journal


@dataclass(slots=True)
class Page:
    """Copy, look again, delete, release; every step can be the last one and be done again.

    1. The journal names the jobs. 2. The target takes copies, the pending ones paused. 3. Copies of
    jobs that changed at the source meanwhile are taken back. 4. The rest is deleted at the source:
    from here on they are the target's. 5. The copies of pending jobs are resumed.
    """

    source: Backend
    target: Backend
    journal: Journal
    moved: int = 0
    existing: int = 0
    left: list[Left] = field(default_factory=list)

    def finish(self) -> None:
        """Bring to its end what a killed move has begun."""
        ids, pending = self.journal.read()
        found = {job_id: self.source.get(job_id) for job_id in ids}
        gone = [job_id for job_id, job in found.items() if job is None]
        # Who deleted them may have died before that was durable: they must not come back.
        self.source.delete(gone)
        self.target.resume([job_id for job_id in pending if found[job_id] is None])
        originals = [job for job in found.values() if job is not None]
        # The target may have got the second job and not the first: together they keep their order.
        self._take_back([job for job in originals if self._has_copy(job)])
        self.carry([job.id for job in originals])
        self.journal.clear()

    def carry(self, ids: Sequence[str]) -> None:
        """Move the jobs that do not run; those that changed on the way are for another page."""
        found = [job for job in map(self.source.get, ids) if job is not None]
        jobs = [job for job in found if job.state is not State.PROCESSING]
        if not jobs:
            return
        self.journal.write(jobs)
        copies, theirs = self._copy(jobs)
        copies = self._unchanged(copies)
        theirs = [job for job in theirs if self.source.get(job.id) == job]
        self._hand_over(copies)
        self._give_up(theirs)

    def _copy(self, jobs: Sequence[Job]) -> tuple[list[Job], list[Job]]:
        """The jobs of which the target has our copy, and those of which it knows more than we."""
        by_id = {job.id: job for job in jobs}
        created, existing, refused = take_in(self.target, [_held(job) for job in jobs])
        self.left += refused
        copied, theirs, outdated = {job.id for job in created}, [], []
        for held in existing:
            there = self.target.get(held.id)
            if there is not None and is_further(there, held):
                theirs.append(by_id[held.id])
            elif there is not None and _is_copy(there, held):
                copied.add(held.id)
            else:
                outdated.append(held)
        copied |= self._renew(outdated)
        return [job for job in jobs if job.id in copied], theirs

    def _renew(self, outdated: Sequence[Job]) -> set[str]:
        """Put our record in the place of one to which less has happened."""
        if not outdated:
            return set()
        self._take_back(outdated)
        created, running, refused = take_in(self.target, outdated)
        self.left += refused
        self.left += [Left(job.id, job.queue, "the target runs it already") for job in running]
        return {job.id for job in created}

    def _unchanged(self, copies: Sequence[Job]) -> list[Job]:
        """Without those that someone claimed, retried, cancelled or deleted since we looked."""
        changed = [job for job in copies if self.source.get(job.id) != job]
        self._take_back(changed)
        gone = {job.id for job in changed}
        return [job for job in copies if job.id not in gone]

    def _hand_over(self, copies: Sequence[Job]) -> None:
        """Delete at the source, then let the copies be what their originals were at the last."""
        if not copies:
            return
        acted = self.source.delete([job.id for job in copies])
        ends = [(job, end.state) for job, end in zip(copies, acted, strict=True) if not end.refused]
        self._take_back([job for job, end in zip(copies, acted, strict=True) if end.refused])
        self.moved += len(ends)
        for verb, ids in (
            (self.target.resume, [job.id for job, last in ends if _resumed(job, last)]),
            (self.target.retry, [job.id for job, last in ends if _retried(job, last)]),
            (self.target.cancel, [job.id for job, last in ends if _cancelled(job, last)]),
        ):
            if ids:
                verb(ids)

    def _give_up(self, jobs: Sequence[Job]) -> None:
        """Delete at the source what the target has taken further."""
        if jobs:
            acted = self.source.delete([job.id for job in jobs])
            deleted = sum(end.refused is None for end in acted)
            self.moved += deleted
            self.existing += deleted

    def _has_copy(self, job: Job) -> bool:
        """Whether the target knows of this work what we know, or less."""
        there = self.target.get(job.id)
        if there is None or is_further(there, job):
            return False
        try:
            return as_message(job).same_work(there.queue, there.task, there.version, there.body)
        except ValueError:  # spoilt at the source since: what the target has is not taken away
            return False

    def _take_back(self, copies: Sequence[Job]) -> None:
        # One that runs at the target by now stays there: the next look finds it further.
        if copies:
            self.target.delete([job.id for job in copies])


def _held(job: Job) -> Job:
    """The copy, which must not run while its original still can."""
    return replace(job, state=State.PAUSED) if job.state is State.PENDING else job


def _is_copy(there: Job, held: Job) -> bool:
    [arrived] = arrive([held], held.created_at)
    return replace(there, seq=0) == replace(arrived, seq=0)


# What was done to the original between the second look and its deletion is done to the copy.


def _resumed(job: Job, last: State | None) -> bool:
    return last is State.PENDING and job.state in WAITING


def _retried(job: Job, last: State | None) -> bool:
    return last is State.PENDING and job.state.terminal


def _cancelled(job: Job, last: State | None) -> bool:
    return last is State.CANCELLED and job.state in WAITING
