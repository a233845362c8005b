"""A member of the cast that drives the store's verbs itself, to hand over children."""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import closing
from typing import TYPE_CHECKING, Final

from chaos.cast import HANDOFF
from chaos.handlers import child, seal
from chaos.opening import opened
from chaos.records import Ended, Refused, Returned, Started
from ferryman import BackendUnavailable
from ferryman.lifecycle import Verdict
from ferryman.queue.heartbeat import Beat
from ferryman.queue.settlement import Settlement

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chaos.cast import Pace
    from chaos.journal import Journal
    from chaos.scene import Scene
    from ferryman import Job
    from ferryman.queue.contract import Backend

HANDED: Final = "handed"
"""The edge in the ids of children that are handed over by a settlement."""
_BATCH: Final = 4
_REPEAT: Final = 8
"""Every so many turns the same settlements are sent twice, as after a lost reply."""
_NAP_AT: Final = 2
_NAP_EVERY: Final = 12
"""Of so many batches one is held past the end of its leases, and settled all the same."""
_BLINK: Final = 0.05


def carry(scene: Scene, name: str) -> int:
    """Hand over until killed, or until SIGTERM."""
    asked: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _frame: asked.append(number))
    with closing(opened(scene.url(name))) as backend:
        worker, pace = f"{name}:{os.getpid()}", scene.plan.cast.pace
        courier = Courier(backend, scene.journal(name), worker, pace, lambda: bool(asked))
        while not asked:
            courier.turn()
    return 0


class Courier:
    """Polls a few jobs, works, prolongs their leases, and settles them with their children."""

    def __init__(
        self,
        backend: Backend,
        journal: Journal,
        worker: str,
        pace: Pace,
        hurried: Callable[[], bool],
    ) -> None:
        self._backend = backend
        self._hurried = hurried
        self._journal = journal
        self._worker = worker
        self._lease, self._longest_nap = pace.lease, pace.nap
        self._turn = self._batches = 0

    def turn(self) -> None:
        """One batch, or a short wait for one."""
        self._turn += 1
        try:
            jobs = self._backend.poll(
                self._worker, {HANDOFF: _BATCH}, lease=self._lease, turn=self._turn
            )
            if not jobs:
                self._backend.wait([HANDOFF], 0.2)
                return
            self._work(jobs)
        except BackendUnavailable:
            return
        refused = self._settle(jobs)
        if self._turn % _REPEAT == 0:
            # What was applied stays so; what was refused must not be applied now.
            self._settle(jobs, record=refused)

    def _work(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            self._journal.write(Started.of(job, self._journal.node))
            time.sleep(job.payload["seconds"])
            self._journal.write(Returned(job.id, job.fence))
        self._batches += 1
        if self._longest_nap and self._batches % _NAP_EVERY == _NAP_AT:
            self._nap()
            return
        beats = [Beat(job.id, job.fence) for job in jobs]
        self._backend.heartbeat(self._worker, beats, lease=self._lease, answered=self._turn)

    def _nap(self) -> None:
        """Until the leases are long over, or until the campaign ends."""
        until = time.monotonic() + self._longest_nap
        while time.monotonic() < until and not self._hurried():
            time.sleep(_BLINK)

    def _settle(self, jobs: Sequence[Job], record: Sequence[Job] | None = None) -> Sequence[Job]:
        """End the claims, whatever the heartbeat said: the store knows. Returns the refused."""
        settlements = [_hand_over(job) for job in jobs]
        while True:
            try:
                receipts = self._backend.settle(settlements)
            except BackendUnavailable:
                continue
            break
        applied = {r.job_id: str(r.state) for r in receipts if r.applied}
        for job in jobs if record is None else record:
            if job.id in applied:
                state, node = applied[job.id], self._journal.node
                self._journal.write(
                    Ended(job.id, job.fence, job.generation, state, delay=None, node=node)
                )
            else:
                self._journal.write(Refused(job.id, job.fence))
        return [job for job in jobs if job.id not in applied]


def _hand_over(job: Job) -> Settlement:
    token, children = job.payload["token"], range(job.payload["children"])
    return Settlement.of(
        job,
        Verdict.ACK,
        result=json.dumps(seal(job)),
        children=tuple(child(job, token, HANDED, index) for index in children),
    )
