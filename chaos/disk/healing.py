"""After the crash: another process, as a worker and its upkeep would, brings everything to an end.

On the way it looks for what no reader of the final state could see: a second run of what had
ended, claims that repeat a number, attempts over the limit.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from typing import TYPE_CHECKING, Final

from chaos.disk.course import differences, plain, seen
from chaos.disk.steps import LEASE, QUEUES, message
from chaos.disk.verdict import HEALED
from ferryman import State
from ferryman.job import TERMINAL
from ferryman.lifecycle import Verdict
from ferryman.queue.settlement import Settlement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chaos.disk.course import Views
    from ferryman import Job
    from ferryman.queue.contract import Backend
    from ferryman.testing import FakeClock

_ROUNDS: Final = 8
_PATIENCE: Final = 0.5
"""Seconds for a process that swept just now, and rests before it sweeps again."""
_HEALER: Final = "healer"


def tidy(backend: Backend, views: Views) -> Iterator[str]:
    """A process that comes an hour later: the store works, it sweeps, and it counts right."""
    backend.push([message("late")])
    backend.delete(["late"])
    backend.reap()
    backend.poll(_HEALER, dict.fromkeys(QUEUES, 1), lease=LEASE)
    counted = backend.snapshot()
    backend.close()
    recounted = Counter((job.queue, job.state) for job in views.values())
    for queue in QUEUES:
        for state in State:
            found = counted.count(state, queue)
            if found != recounted[queue, state]:
                yield f"{queue} counts {found} {state}, has {recounted[queue, state]}"


class Healing:
    """One recovery; `findings` is empty if every promise held."""

    def __init__(self, backend: Backend, clock: FakeClock, found: Views) -> None:
        self.findings: list[str] = []
        self._backend = backend
        self._clock = clock
        self._found = found
        self._claims: dict[str, Job] = {}

    def run(self) -> Views:
        """Bring every job to an end; the views of them all."""
        for queue in QUEUES:
            self._backend.resume_queue(queue)
        views = self._found
        patience = time.monotonic() + _PATIENCE
        for number in itertools.count(1):
            self._clock.advance(LEASE + 1)
            self._round()
            views = seen(self._backend)
            done = all(job.state in TERMINAL for job in views.values())
            if done or (number >= _ROUNDS and time.monotonic() > patience):
                break
            paused = [job.id for job in views.values() if job.state is State.PAUSED]
            self._backend.resume(paused)
        self.findings += self._judged(views)
        return views

    def _round(self) -> None:
        self._backend.reap()
        jobs = self._backend.poll(_HEALER, dict.fromkeys(QUEUES, 100), lease=LEASE)
        for job in jobs:
            self.findings += self._claimed(job)
            self._claims[job.id] = job
        ends = [Settlement.of(job, Verdict.ACK, result=HEALED) for job in jobs]
        for receipt in self._backend.settle(ends):
            if not receipt.applied:
                self.findings.append(f"{receipt.job_id}: a live claim could not be settled")

    def _claimed(self, job: Job) -> Iterator[str]:
        before = self._found.get(job.id)
        last = self._claims.get(job.id)
        if last is not None:
            yield f"{job.id}: claimed again after it was settled as claim {last.fence}"
        if before is None:
            return
        if before.state in TERMINAL and job.generation <= before.generation:
            yield f"{job.id}: claimed although generation {before.generation} had ended"
        if job.fence <= before.fence:
            yield f"{job.id}: claim {job.fence} is not newer than {before.fence}"
        if job.attempts > job.max_attempts:
            yield f"{job.id}: attempt {job.attempts} of {job.max_attempts}"

    def _judged(self, views: Views) -> Iterator[str]:
        for job_id in sorted(self._found.keys() - views.keys()):
            yield f"{job_id}: was there after the crash and is gone"
        for job in views.values():
            before = self._found.get(job.id)
            if job.state not in TERMINAL:
                yield f"{job.id}: stuck, still {job.state}"
            if before is not None and before.state in TERMINAL and before != plain(job):
                yield f"{job.id}: had ended, changed since: {differences(job, before)}"
            claim = self._claims.get(job.id)
            if claim is not None and claim.fence != job.fence:
                yield f"{job.id}: ended by claim {job.fence}, was acked by claim {claim.fence}"
