"""poll without a ledger: to receive a message is to claim its job."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, Final

from ferryman.backends.sqs.calls import LONGEST_HOLD
from ferryman.backends.sqs.envelope import Envelope, adopted
from ferryman.backends.sqs.held import Claim
from ferryman.errors import InvalidMessage
from ferryman.job import JobError
from ferryman.lifecycle import WORKER_TIMED_OUT

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ferryman.backends.sqs.bodies import Bodies
    from ferryman.backends.sqs.calls import Calls, Delivery
    from ferryman.backends.sqs.ending import Ending
    from ferryman.backends.sqs.gathering import Gathering
    from ferryman.backends.sqs.held import Held
    from ferryman.backends.sqs.strangers import Strangers
    from ferryman.clock import Clock
    from ferryman.job import Job

# A message for a task that must not run now comes back after so many seconds.
_NOT_NOW: Final = 60


class Claiming:
    """Receives messages as claims; attempts are counted by how often SQS has handed one out."""

    def __init__(
        self,
        calls: Calls,
        gathering: Gathering,
        held: Held,
        ending: Ending,
        *,
        strangers: Strangers,
        bodies: Bodies | None,
        bare: str | None,
        clock: Clock,
    ) -> None:
        self._calls = calls
        self._gathering = gathering
        self._held = held
        self._ending = ending
        self._strangers = strangers
        self._bodies = bodies
        self._bare = bare
        self._clock = clock

    def poll(
        self,
        worker: str,
        queues: Mapping[str, int],
        *,
        lease: float,
        turn: int,
        skip_tasks: Collection[str],
    ) -> Sequence[Job]:
        hold = min(LONGEST_HOLD, ceil(lease))
        wanted = {queue: limit for queue, limit in queues.items() if limit > 0}
        found = self._gathering.gather(wanted, hold=hold)
        received = [one for deliveries in found.values() for one in deliveries]
        try:
            return self._claim(received, worker, lease, turn, skip_tasks)
        except BaseException:
            # Others need not wait until they are shown again by themselves.
            self._calls.hide(received, [0] * len(received))
            raise

    def _claim(
        self,
        received: Sequence[Delivery],
        worker: str,
        lease: float,
        turn: int,
        skip_tasks: Collection[str],
    ) -> Sequence[Job]:
        opened = self._opened(received)
        mine = [(envelope, one) for envelope, one in opened if envelope.task not in skip_tasks]
        self._ending.postpone([each for each in opened if each[0].task in skip_tasks], _NOT_NOW)
        jobs = []
        for envelope, delivery in self._fit(mine):
            claim = Claim(envelope, delivery, worker, turn)
            if self._held.add(claim):
                now = self._clock.now()
                jobs.append(envelope.job(delivery, worker, now=now, lease=lease))
        self._prolong(mine, min(LONGEST_HOLD, ceil(lease)))
        return sorted(jobs, key=lambda job: (-job.priority, job.ready_at))

    def _opened(self, deliveries: Sequence[Delivery]) -> Sequence[tuple[Envelope, Delivery]]:
        """What the messages say; those that nobody can read are set aside."""
        opened = []
        for one in deliveries:
            try:
                envelope = Envelope.read(one.body)
                if envelope is None and self._bare is not None:
                    envelope = adopted(one, self._bare, self._clock.now())
                if envelope is None:
                    raise self._strangers.refusal()
                opened.append((envelope, one))
            except InvalidMessage as refusal:
                self._strangers.set_aside(one, refusal, self._clock.now())
        return opened

    def _fit(
        self, opened: Sequence[tuple[Envelope, Delivery]]
    ) -> Sequence[tuple[Envelope, Delivery]]:
        """Those to run, with their bodies; those past their time or their attempts are ended."""
        now = self._clock.now()
        fit = []
        for envelope, one in opened:
            if envelope.deadline is not None and envelope.deadline <= now:
                self._ending.forget([(envelope, one)])
            elif envelope.attempts + one.count > envelope.max_attempts:
                error = JobError(envelope.max_attempts, now, None, "lease", WORKER_TIMED_OUT)
                self._ending.bury(envelope, one, error)
            else:
                fit.append((envelope, one))
        return self._with_bodies(fit)

    def _with_bodies(
        self, opened: Sequence[tuple[Envelope, Delivery]]
    ) -> Sequence[tuple[Envelope, Delivery]]:
        bodies = self._bodies
        keys = [envelope.stored for envelope, _ in opened if envelope.stored is not None]
        if not keys or bodies is None:
            return opened
        found = dict(zip(keys, self._calls.each(bodies.get, keys), strict=True))
        return [
            (replace(envelope, body=found[envelope.stored]) if envelope.stored else envelope, one)
            for envelope, one in opened
        ]

    def _prolong(self, opened: Sequence[tuple[Envelope, Delivery]], hold: int) -> None:
        """What lay in the inbox was hidden for less than the lease."""
        short = [one for _, one in opened if one.until - one.received < hold]
        self._calls.hide(short, [hold] * len(short))
