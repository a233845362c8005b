"""poll with a ledger: ids come from SQS, the ledger says which of them are claimed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from ferryman.backends.sqs.queues import HOLD
from ferryman.errors import BackendUnavailable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ferryman.backends.sqs.agenda import Agenda
    from ferryman.backends.sqs.calls import Calls, Delivery
    from ferryman.backends.sqs.gathering import Gathering
    from ferryman.backends.sqs.inbox import Inbox
    from ferryman.backends.sqs.sifting import Sifting
    from ferryman.job import Job
    from ferryman.queue.ledger import Ledger

# A poll that meets only notices of jobs that are gone gives up after so many rounds.
_ROUNDS: Final = 20


class Claims:
    """The terms of one poll."""

    def __init__(
        self, worker: str, *, lease: float, turn: int, skip_tasks: Collection[str]
    ) -> None:
        self.worker = worker
        self.lease = lease
        self.turn = turn
        self.skip_tasks = skip_tasks

    def named(self, ledger: Ledger, ids: Mapping[str, Collection[str]]) -> Sequence[Job]:
        """Those of these jobs that can be claimed, claimed."""
        return ledger.claim(
            self.worker, ids, lease=self.lease, turn=self.turn, skip_tasks=self.skip_tasks
        )

    def any(self, ledger: Ledger, limits: Mapping[str, int]) -> Sequence[Job]:
        """The next jobs of the queues, claimed."""
        return ledger.poll(
            self.worker, limits, lease=self.lease, turn=self.turn, skip_tasks=self.skip_tasks
        )


class Poll:
    """Claims by notices, and where the agenda calls for it by asking the ledger itself."""

    def __init__(
        self,
        calls: Calls,
        ledger: Ledger,
        *,
        gathering: Gathering,
        agenda: Agenda,
        inbox: Inbox,
        sifting: Sifting,
    ) -> None:
        self._calls = calls
        self._ledger = ledger
        self._agenda = agenda
        self._gathering = gathering
        self._inbox = inbox
        self._sifting = sifting

    def poll(self, claims: Claims, queues: Mapping[str, int]) -> Sequence[Job]:
        """At most the given number from each queue, in the promised order."""
        left = {queue: limit for queue, limit in queues.items() if limit > 0}
        jobs: list[Job] = []
        held: list[Delivery] = []
        try:
            self._poll(claims, left, jobs, held)
        except BackendUnavailable:
            # What is claimed already must not be lost with the rest.
            if not jobs:
                raise
        finally:
            self._inbox.put(held, aside=True)
        # One whose lease ran out meanwhile may have been claimed again: the later claim counts.
        latest = {job.id: job for job in jobs}
        return sorted(latest.values(), key=lambda job: (-job.priority, job.ready_at, job.seq))

    def _poll(
        self, claims: Claims, left: dict[str, int], jobs: list[Job], held: list[Delivery]
    ) -> None:
        """Add to `jobs` what can be claimed, take it off `left`, add to `held` what is kept."""
        now = self._ledger.clock.now()
        # The leases of those that are claimed first must not run out while we ask for more.
        until = time.monotonic() + claims.lease / 4
        called = {queue for queue in left if self._agenda.calls(queue, now)}
        self._ask_ledger(claims, called, left, jobs)
        unheard = {queue for queue, limit in left.items() if limit > 0}
        for _ in range(_ROUNDS):
            if not unheard or (jobs and time.monotonic() > until):
                break
            asked = {queue: left[queue] for queue in unheard}
            found = self._gathering.gather(asked, hold=HOLD)
            self._claim(claims, found, left, jobs, held)
            unheard = {q for q, n in asked.items() if left[q] > 0 and len(found[q]) >= n}
        # Those of other tasks may lie behind a thousand that are not to be claimed.
        passed_over = {one.queue for one in held if left[one.queue] > 0}
        self._ask_ledger(claims, passed_over, left, jobs)

    def _ask_ledger(
        self, claims: Claims, queues: Collection[str], left: dict[str, int], jobs: list[Job]
    ) -> None:
        if not queues:
            return
        now = self._ledger.clock.now()
        limits = {queue: left[queue] for queue in queues}
        found = claims.any(self._ledger, limits)
        _add(found, left, jobs)
        for queue, limit in limits.items():
            self._agenda.asked(queue, now, None if left[queue] > 0 else limit)

    def _claim(
        self,
        claims: Claims,
        found: Mapping[str, Sequence[Delivery]],
        left: dict[str, int],
        jobs: list[Job],
        held: list[Delivery],
    ) -> None:
        """Claim what the deliveries name, and end those that have done their service."""
        everything = [one for deliveries in found.values() for one in deliveries]
        if not everything:
            return
        try:
            named = self._sifting.named(everything)
            ids: dict[str, set[str]] = {}
            for job_id, one in named:
                ids.setdefault(one.queue, set()).add(job_id)
            claimed = claims.named(self._ledger, ids)
            _add(claimed, left, jobs)
            done = {job.id for job in claimed}
            held += self._sifting.sift([each for each in named if each[0] not in done])
        except BaseException:
            # Others need not wait until it is shown again by itself.
            self._calls.hide(everything, [0] * len(everything))
            raise
        # The leases run already, and on a bad day a request takes longer than they do.
        self._calls.delete_beside([one for job_id, one in named if job_id in done])


def _add(claimed: Sequence[Job], left: dict[str, int], jobs: list[Job]) -> None:
    jobs += claimed
    for job in claimed:
        left[job.queue] -= 1
