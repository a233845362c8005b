"""Sends settlements in batches, without making an idle one wait."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

from ferryman.errors import BackendError
from ferryman.job import State
from ferryman.lifecycle import Verdict
from ferryman.queue.settlement import Receipt
from ferryman.worker.loop import Loop

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ferryman.events import Events
    from ferryman.queue.contract import Backend
    from ferryman.queue.settlement import Settlement
    from ferryman.worker.claim import Claim
    from ferryman.worker.leases import LeaseKeeper

BATCH = 500
ENOUGH = 100
LINGER = 0.005
"""Under load an end waits at most this many seconds for others to travel with."""

_EVENTS = {
    State.COMPLETED: "job.completed",
    State.FAILED: "job.failed",
    State.CANCELLED: "job.cancelled",
    State.PAUSED: "job.paused",
}


class Settler(Loop):
    """Under load (`loaded`: more claims wait for a slot) ends gather for a moment; an idle worker
    sends each at once. Fewer batches mean fewer switches between threads as well as fewer commits.

    An unavailable backend loses nothing: the claims stay held, and the same batch is sent again.
    """

    name = "settler"

    def __init__(
        self,
        backend: Backend,
        keeper: LeaseKeeper,
        loaded: Callable[[], bool],
        events: Events,
        died: Callable[[str, BaseException], None],
    ) -> None:
        super().__init__(events, died)
        self._backend = backend
        self._keeper = keeper
        self._loaded = loaded
        self._lingering = False
        self._waiting: deque[tuple[Claim, Settlement]] = deque()
        self._empty = threading.Condition()

    def add(self, claim: Claim, settlement: Settlement) -> None:
        self._waiting.append((claim, settlement))
        if self._lingering and len(self._waiting) < ENOUGH:
            return
        self.wake()

    def flush(self, timeout: float) -> bool:
        """Wait until everything added so far is settled; False if that took too long."""
        with self._empty:
            return self._empty.wait_for(lambda: not self._waiting, timeout)

    def turn(self) -> float:
        if not self._lingering and 0 < len(self._waiting) < ENOUGH and self._loaded():
            self._lingering = True
            return LINGER
        self._lingering = False
        while self._waiting:
            batch = [self._waiting[index] for index in range(min(BATCH, len(self._waiting)))]
            receipts = self._settle([settlement for _, settlement in batch])
            self._keeper.drop(claim for claim, _ in batch)
            for _ in batch:
                self._waiting.popleft()
            if self._events.heard:
                for (claim, settlement), receipt in zip(batch, receipts, strict=True):
                    self._tell(claim, settlement, receipt)
            if len(self._waiting) < ENOUGH:
                break
        if self._waiting:
            return 0.0
        with self._empty:
            self._empty.notify_all()
        return 60.0

    def _settle(self, settlements: Sequence[Settlement]) -> Sequence[Receipt]:
        try:
            return self._backend.settle(settlements)
        except BackendError:
            raise
        except Exception as error:
            # One end that the store chokes on must not take all others, or the worker, with it.
            if len(settlements) > 1:
                return [self._settle([settlement])[0] for settlement in settlements]
            self._events.emit("job.unsettled", settlement=settlements[0], error=error)
            return [Receipt(settlements[0].job_id, applied=False)]

    def _tell(self, claim: Claim, settlement: Settlement, receipt: Receipt) -> None:
        if not receipt.applied:
            if not claim.told_lost:
                self._events.emit("job.lost", job=claim.job, worker=self._keeper.worker)
            return
        name = _EVENTS.get(receipt.state or State.PENDING)
        if name is None:
            name = "job.retried" if settlement.verdict is Verdict.NACK else "job.returned"
        if self._events.wanted(name):
            self._events.emit(
                name,
                job=claim.job,
                state=receipt.state,
                error=settlement.error,
                delay=settlement.delay,
                worker=self._keeper.worker,
            )
