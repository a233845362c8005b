"""One queue's slots in this worker, and the small buffer of claims that waits for them."""

from __future__ import annotations

import threading
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ferryman.worker.claim import Claim

BUFFER_SECONDS = 0.1
"""A buffered claim waits at most about this long, so that it never blocks a more urgent one."""
MAX_BUFFER = 500
MAX_SERVED = 2_000
"""The same where a server works on the next poll meanwhile: there must be enough left to run."""
LARGE = 100
"""From this size on a thread that finds the buffer low fills it itself: handing the claims over
from the poller's thread would cost more than the poll."""
STUCK_AFTER = 1.0
"""Seconds without a start after which buffered claims are given back."""


class Lane:
    """Runs at most `slots` jobs of one queue at a time, on threads that are made when needed.

    `start` runs one claim in the calling thread and says whether it is over; one that goes on
    elsewhere (on the event loop) keeps its slot until `finished` is called.
    """

    def __init__(
        self,
        queue: str,
        slots: int,
        start: Callable[[Claim], bool],
        died: Callable[[str, BaseException], None],
        monotonic: Callable[[], float],
        *,
        most: int = MAX_BUFFER,
        batch: int = 1,
    ) -> None:
        self.queue = queue
        self.slots = slots
        self._batch = batch
        self._followers = 0
        self._start = start
        self._died = died
        self._monotonic = monotonic
        self._most = most
        self._moved_at = 0.0
        self._buffer: deque[Claim] = deque()
        self._running: dict[Claim, None] = {}
        self._zombies: set[Claim] = set()
        # The lock is taken for every job, so directly: a condition's own enter and exit are Python.
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._threads = 0
        self._idle = 0
        self._closed = False
        self._mean: float | None = None
        self._buffer_size = 0
        self.freed: Callable[[], None] = lambda: None
        self.refill: Callable[[Lane], bool] = lambda _: False

    def room(self) -> int:
        """How many claims to fetch now: none until half of the buffer is used up.

        Fetching by halves keeps batches large without letting the slots run dry.
        """
        with self._lock:
            if self._closed:
                return 0
            self._buffer_size = self._measured_buffer()
            busy = len(self._running) - self._followers
            wanted = self.slots + self._buffer_size
            if self._batch > 1:
                wanted += (self.slots - busy) * (self._batch - 1)
            free = wanted - busy - len(self._buffer)
            starved = len(self._buffer) == 0 and busy < self.slots
            return free if starved or free * 2 >= wanted else 0

    @property
    def free(self) -> int:
        """How many claims could start at once."""
        with self._lock:
            idle = self.slots - len(self._running) + self._followers
            return max(0, idle * self._batch - len(self._buffer))

    def gather(self, task: str, most: int) -> list[Claim]:
        """Take claims of one task that wait, for a call that takes several: they need no slot."""
        with self._lock:
            mine = list(islice((c for c in self._buffer if c.job.task == task), most))
            for claim in mine:
                self._buffer.remove(claim)
                claim.follows = True
                self._running[claim] = None
            self._followers += len(mine)
            return mine

    def add(self, claims: Sequence[Claim]) -> Sequence[Claim]:
        """Take claims in order; returns those that came too late, because the lane is closed."""
        with self._lock:
            if self._closed:
                return claims
            if not self._buffer:
                self._moved_at = self._monotonic()
            self._buffer.extend(claims)
            self._staff()
            self._changed.notify(min(len(claims), self._idle))
        return ()

    def finished(self, claim: Claim) -> None:
        """Free the slot of a claim that ended elsewhere than on one of our threads."""
        with self._lock:
            low = self._free(claim)
            self._changed.notify()
        if low:
            self.freed()

    def disown(self, claim: Claim) -> None:
        """Give up on a handler that does not stop: its slot and its thread are replaced."""
        with self._lock:
            if claim not in self._running:
                return
            del self._running[claim]
            if claim.follows:
                self._followers -= 1
                return
            if not claim.on_loop:
                self._threads -= 1
                self._zombies.add(claim)
            self._staff()
            self._changed.notify()
        self.freed()

    def stuck(self, now: float) -> Sequence[Claim]:
        """Take back what waits behind handlers that turned out slow: others could run it now.

        The buffer was measured by the jobs before; instant ones say nothing about an hour's.
        """
        with self._lock:
            waited = now - self._moved_at
            if not self._buffer or waited < STUCK_AFTER:
                return ()
            waiting = list(self._buffer)
            self._buffer.clear()
            self._mean = max(waited, self._mean or 0.0)
            return waiting

    def close(self) -> Sequence[Claim]:
        """Start nothing more; returns the claims that were still waiting."""
        with self._lock:
            self._closed = True
            waiting = list(self._buffer)
            self._buffer.clear()
            self._changed.notify_all()
            return waiting

    @property
    def running(self) -> Sequence[Claim]:
        with self._lock:
            return list(self._running)

    @property
    def waiting(self) -> bool:
        """Whether claims wait for a slot."""
        return bool(self._buffer)

    def _measured_buffer(self) -> int:
        if self._mean is None:
            return 0
        return min(self._most, int(self.slots * BUFFER_SECONDS / max(self._mean, 1e-6)))

    def _staff(self) -> None:
        """Another thread, if a claim could start and nobody is there to take it."""
        startable = bool(self._buffer) and len(self._running) - self._followers < self.slots
        if startable and self._idle == 0 and self._threads < self.slots:
            self._threads += 1
            name = f"ferryman-{self.queue}"
            threading.Thread(target=self._work, name=name, daemon=True).start()

    def _work(self) -> None:
        try:
            claim = self._next(None)
            while claim is not None:
                over = self._start(claim)
                if claim in self._zombies:
                    self._zombies.discard(claim)
                    return  # disowned meanwhile: another thread has this one's place
                claim = self._next(claim if over else None)
        except BaseException as error:
            self._died(f"lane {self.queue}", error)

    def _next(self, done: Claim | None) -> Claim | None:
        """Free the slot of the claim that is done and take the next, under one lock."""
        low = False
        if done is not None:
            with self._lock:
                low = self._free(done)
            if low and self._buffer_size >= LARGE and self.refill(self):
                low = False
        with self._lock:
            if low and not self._buffer:
                # The poller must hear of it before this thread goes to sleep.
                self.freed()
                low = False
            while not (self._buffer and len(self._running) - self._followers < self.slots):
                if self._closed:
                    return None
                self._idle += 1
                self._changed.wait()
                self._idle -= 1
            claim = self._buffer.popleft()
            self._running[claim] = None
            self._staff()
        if low:
            self.freed()
        return claim

    def _free(self, claim: Claim) -> bool:
        """Whether the buffer is so low that it is time to poll."""
        if claim not in self._running:
            return False
        del self._running[claim]
        if claim.follows:
            self._followers -= 1
        seconds = claim.seconds
        self._moved_at = (claim.started or 0.0) + seconds
        self._mean = seconds if self._mean is None else self._mean * 0.9 + seconds * 0.1
        return len(self._buffer) * 2 <= self._buffer_size
