"""Sends settlements in batches, without making an idle one wait."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

from ferryman.errors import BackendError
from ferryman.queue.settlement import Receipt
from ferryman.worker.ends import tell_end
from ferryman.worker.loop import Loop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ferryman.events import Events
    from ferryman.queue.contract import Backend
    from ferryman.queue.settlement import Settlement
    from ferryman.worker.claim import Claim
    from ferryman.worker.leases import LeaseKeeper
    from ferryman.worker.rollup import Rollup

BATCH = 500
ENOUGH = 250
LINGER = 0.012
"""Under load an end waits at most this many seconds for others to travel with."""


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
        *,
        settled: Callable[[Iterable[Claim]], None] | None = None,
        rollup: Rollup | None = None,
    ) -> None:
        super().__init__(events, died)
        self._settled = settled
        self._rollup = rollup
        self._backend = backend
        self._keeper = keeper
        self._loaded = loaded
        self._lingering = False
        self._helped_lately = False
        self._waiting: deque[tuple[Claim, Settlement]] = deque()
        self._empty = threading.Condition()
        self._sending = threading.Lock()

    def add(self, claim: Claim, settlement: Settlement, *, helping: bool = False) -> None:
        """Take an end. `helping`: the calling thread may send a full batch itself.

        Handing the batch to another thread costs more than sending it, at rates that fill one
        within `LINGER`.
        """
        self._waiting.append((claim, settlement))
        if len(self._waiting) >= ENOUGH:
            if not (helping and self._helped()):
                self.wake()
        elif not self._lingering:
            self.wake()

    def flush(self, timeout: float) -> bool:
        """Wait until everything added so far is settled; False if that took too long."""
        with self._empty:
            return self._empty.wait_for(lambda: not self._waiting, timeout)

    def turn(self) -> float:
        if self._helped_lately or (
            not self._lingering and 0 < len(self._waiting) < ENOUGH and self._loaded()
        ):
            self._helped_lately = False
            self._lingering = True
            return LINGER
        self._lingering = False
        with self._sending:
            while self._waiting:
                self._send()
                if len(self._waiting) < ENOUGH:
                    break
        return 0.0 if self._waiting else 60.0

    def _helped(self) -> bool:
        """Send one batch from a thread that is not ours; False leaves it to us, with patience."""
        if not self._sending.acquire(blocking=False):
            return False
        try:
            self._send()
        except BackendError:
            return False
        finally:
            self._sending.release()
        self._helped_lately = True
        return True

    def _send(self) -> None:
        # By places, which adding at the other end leaves alone: an iterator would notice it.
        batch = [self._waiting[place] for place in range(min(BATCH, len(self._waiting)))]
        receipts = self._settle([settlement for _, settlement in batch])
        self._keeper.drop(claim for claim, _ in batch)
        if self._settled is not None:
            self._settled(claim for claim, _ in batch)
        for _ in batch:
            self._waiting.popleft()
        if not self._waiting:
            with self._empty:
                self._empty.notify_all()
        if self._rollup is not None:
            self._rollup.add(batch, receipts)
        if self._events.heard:
            for (claim, settlement), receipt in zip(batch, receipts, strict=True):
                tell_end(self._events, self._keeper.worker, claim, settlement, receipt)

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
