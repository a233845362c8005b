"""Keeps the leases of held jobs alive, on a thread that no handler can block."""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING

from ferryman.errors import BackendUnavailable
from ferryman.queue.joining import Joining, no_database
from ferryman.worker.claim import Claim
from ferryman.worker.loop import Loop

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from ferryman.events import Events
    from ferryman.job import Job
    from ferryman.queue.contract import Backend
    from ferryman.queue.heartbeat import Beat, Pulse
    from ferryman.queue.settlement import Receipt, Settlement

REPORT_WITHIN = 1.0
"""Seconds until a reported progress is stored, if no heartbeat is due earlier."""


class LeaseKeeper(Loop):
    """Claims jobs for one worker and heartbeats for what it holds, every third of the lease."""

    name = "leases"

    def __init__(
        self,
        backend: Backend,
        worker: str,
        *,
        lease: float,
        events: Events,
        died: Callable[[str, BaseException], None],
    ) -> None:
        super().__init__(events, died)
        self.lease = lease
        self.worker = worker
        self._backend = backend
        self._margin = lease * 0.1
        self._lock = threading.Lock()
        self._held: dict[Claim, None] = {}
        self._turn = 0
        self._unanswered: set[int] = set()
        self.made = 0
        """Claims so far."""
        # A poll that got no answer may still claim, once the store gets to it: for a lease we ask.
        self._doubtful_until = -math.inf
        self._report_at: float | None = None
        self._next_beat = backend.clock.monotonic() + lease / 3

    def poll(self, queues: Mapping[str, int], skip_tasks: Collection[str] = ()) -> Sequence[Claim]:
        """Claim jobs and hold them.

        The lease is trusted only from before the call: a slow answer does not extend it.
        """
        with self._lock:
            self._turn += 1
            turn = self._turn
            self._unanswered.add(turn)
        before = self.monotonic()
        jobs: Sequence[Job] = ()
        answered = False
        try:
            jobs = self._backend.poll(
                self.worker, queues, lease=self.lease, turn=turn, skip_tasks=skip_tasks
            )
            answered = True
        finally:
            claims = self._hold(jobs, turn, before, answered)
        return claims

    def _hold(
        self, jobs: Sequence[Job], turn: int, before: float, answered: bool
    ) -> Sequence[Claim]:
        trusted_until = before + self.lease - self._margin
        claims = [Claim(job, self, trusted_until) for job in jobs]
        with self._lock:
            self._unanswered.discard(turn)
            if not answered:
                self._doubtful_until = self.monotonic() + self.lease
            self.made += len(claims)
            for claim in claims:
                self._held[claim] = None
        return claims

    def drop(self, claims: Iterable[Claim]) -> None:
        """Stop prolonging these: they are settled, or lost."""
        with self._lock:
            for claim in claims:
                self._held.pop(claim, None)

    def find(self, job: Job) -> Claim | None:
        """The claim on this very lease, if it is still held here."""
        claim = job.run
        with self._lock:
            return claim if isinstance(claim, Claim) and claim in self._held else None

    @property
    def held(self) -> Sequence[Claim]:
        with self._lock:
            return list(self._held)

    def now(self) -> float:
        return self._backend.clock.now()

    def report_soon(self) -> None:
        """Something was reported: store it within a second, together with what follows."""
        if self._report_at is None:
            self._report_at = self.monotonic() + min(REPORT_WITHIN, self.lease / 6)
            self.wake()

    def turn(self) -> float:
        if self.monotonic() >= self._due():
            self.beat()
        return max(0.0, self._due() - self.monotonic())

    def _due(self) -> float:
        report_at = self._report_at
        return self._next_beat if report_at is None else min(self._next_beat, report_at)

    def beat(self) -> None:
        """One heartbeat for everything held; lost leases and asked stops reach their handlers."""
        self._report_at = None
        with self._lock:
            claims = list(self._held)
            # Polls still under way may have claimed jobs that we do not know of yet.
            answered = min(self._unanswered, default=self._turn + 1) - 1
        now = self.monotonic()
        if not claims and now >= self._doubtful_until:
            self._next_beat = now + self.lease / 3
            return
        self._send(claims, answered)

    def beat_one(self, claim: Claim, checkpoint: str) -> bool:
        """Store a checkpoint now; whether the lease still holds."""
        before = self.monotonic()
        beat = claim.beat(checkpoint)
        try:
            pulses = self._backend.heartbeat(self.worker, [beat], lease=self.lease)
        except BackendUnavailable:
            claim.untake(beat)
            raise
        self._hear([claim], pulses, before)
        return pulses[0].held

    def settle_within(self, connection: object, claim: Claim, settlement: Settlement) -> Receipt:
        """End a claim in a transaction of its handler's own."""
        if not isinstance(self._backend, Joining):
            raise no_database(self._backend.capabilities.backend, "job.ack(connection=…)")
        [receipt] = self._backend.settle_within(connection, [settlement])
        # Its row is locked until the commit: a heartbeat would wait, and all others with it.
        self.drop([claim])
        return receipt

    def _send(self, claims: Sequence[Claim], answered: int) -> None:
        before = self.monotonic()
        beats: list[Beat] = [claim.beat() for claim in claims]
        try:
            pulses = self._backend.heartbeat(
                self.worker, beats, lease=self.lease, answered=answered
            )
        except BackendUnavailable:
            for claim, beat in zip(claims, beats, strict=True):
                claim.untake(beat)
            self._distrust(claims)
            self._doubtful_until = self.monotonic() + self.lease
            raise
        self._next_beat = before + self.lease / 3
        self._hear(claims, pulses, before)

    def _hear(self, claims: Sequence[Claim], pulses: Sequence[Pulse], before: float) -> None:
        for claim, pulse in zip(claims, pulses, strict=True):
            if pulse.held:
                claim.trusted_until = before + self.lease - self._margin
                if pulse.asked is not None:
                    claim.stop(pulse.asked)
            elif not claim.ended:
                # An ended claim is being settled: its own receipt tells what became of it.
                claim.stop("lost")
                claim.told_lost = True
                self.drop([claim])
                self._events.emit("job.lost", job=claim.job, worker=self.worker)

    def _distrust(self, claims: Sequence[Claim]) -> None:
        """Without an answer, a worker stops believing before the store does."""
        now = self.monotonic()
        for claim in claims:
            if now > claim.trusted_until and not claim.ended:
                claim.stop("lost")

    def monotonic(self) -> float:
        return self._backend.clock.monotonic()
