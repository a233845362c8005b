"""Claims jobs for free slots and hands them to their lanes."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ferryman.errors import BackendError, BackendUnavailable
from ferryman.tasks.passage import is_errand
from ferryman.worker.feeding import LOOK_EVERY
from ferryman.worker.loop import Loop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ferryman.events import Events
    from ferryman.queue.contract import Backend
    from ferryman.worker.claim import Claim
    from ferryman.worker.feeding import Feeding
    from ferryman.worker.gates import Gates
    from ferryman.worker.lane import Lane
    from ferryman.worker.leases import LeaseKeeper


class Poller(Loop):
    """Polls when a lane has room; when the store has nothing, waits there for a push.

    `poll_every` bounds that wait: a wake-up is only a hint, polling alone is always correct.
    """

    name = "poller"

    def __init__(
        self,
        backend: Backend,
        keeper: LeaseKeeper,
        lanes: Mapping[str, Lane],
        *,
        poll_every: float,
        give_back: Callable[[Claim], None],
        feeding: Feeding,
        events: Events,
        died: Callable[[str, BaseException], None],
        gates: Gates | None = None,
    ) -> None:
        super().__init__(events, died)
        self._backend = backend
        self._keeper = keeper
        self._gates = gates
        self._lanes = lanes
        self._poll_every = poll_every
        self._give_back = give_back
        self._feeding = feeding
        self._empty_polls = 0
        self._idle = False
        self._at_store = False
        self._failing_since: float | None = None
        self._polling = threading.Lock()
        for lane in lanes.values():
            lane.freed = self.wake
            if not backend.capabilities.served:
                lane.refill = self._help

    def turn(self) -> float:
        rooms = {queue: room for queue, lane in self._lanes.items() if (room := lane.room())}
        if not rooms:
            return self._poll_every
        with self._polling:
            claims = self._poll(rooms)
            self._hand_over(rooms, claims)
        if claims:
            self._empty_polls = 0
            self._idle = False
            return 0.0
        return self._await_work(rooms)

    def work_off(self, limit: int, skip_tasks: Sequence[str], rest: Callable[[], bool]) -> None:
        """Claim from the caller's thread while any job is due, at most `limit` in all.

        The engine's own do not count. `rest` pauses, and says whether to go on.
        """
        left, going = limit, True
        while going:
            # Asked before the poll: what ends in between may have handed over.
            busy = bool(self._keeper.held) or any(lane.running for lane in self._lanes.values())
            before = self._keeper.made
            claims = self._fetch(left, skip_tasks)
            # Not all claims are among these: some wait in a line of their own.
            made = self._keeper.made - before
            left -= made - sum(is_errand(claim.job.task) for claim in claims)
            if not made and not busy:
                return
            going = rest()

    def _fetch(self, limit: int, skip_tasks: Sequence[str]) -> Sequence[Claim]:
        """Claim at most `limit` jobs, no more than slots are free."""
        claimed: list[Claim] = []
        for queue, lane in self._lanes.items():
            room = min(lane.free, limit - len(claimed))
            if room > 0:
                claims = self._poll({queue: room}, skip_tasks)
                self._hand_over((queue,), claims)
                claimed += claims
        return claimed

    @property
    def failing_for(self) -> float:
        """Seconds since the first of the polls that failed in a row; 0 if the last one worked."""
        since = self._failing_since
        return 0.0 if since is None else self._backend.clock.monotonic() - since

    def stop(self, timeout: float | None = None) -> None:
        """No poll begins or is under way after this, from whichever thread."""
        super().stop(timeout)
        if self._polling.acquire(timeout=-1 if timeout is None else timeout):
            self._polling.release()

    def _help(self, lane: Lane) -> bool:
        """Fetch from the lane's own thread; False leaves it to ours, with patience."""
        if not self._polling.acquire(blocking=False):
            return False
        try:
            room = 0 if self.stopping else lane.room()
            claims = self._poll({lane.queue: room}) if room else ()
            self._hand_over((lane.queue,), claims)
            return bool(claims)
        except BackendError:
            return False
        finally:
            self._polling.release()

    def _hand_over(self, queues: Iterable[str], claims: Sequence[Claim]) -> None:
        for queue in queues:
            mine = [claim for claim in claims if claim.job.queue == queue]
            for late in self._lanes[queue].add(mine) if mine else ():
                self._give_back(late)

    def _poll(self, rooms: Mapping[str, int], skip_tasks: Sequence[str] = ()) -> Sequence[Claim]:
        try:
            skipped = [*skip_tasks, *self._feeding.skipped()]
            if self._gates is None:
                claims = self._keeper.poll(rooms, skipped)
            else:
                claims = self._gates.poll(rooms, skipped, idle=self._idle)
        except BackendUnavailable:
            self._failing_since = self._failing_since or self._backend.clock.monotonic()
            raise
        self._failing_since = None
        return claims

    def _await_work(self, rooms: Mapping[str, int]) -> float:
        """Wait for a push; the returned pause keeps wake-ups that lead to nothing from spinning."""
        withheld = () if self._gates is None else self._gates.withheld
        longest = self._gates.pause(self._poll_every) if self._gates else self._poll_every
        queues = rooms.keys() - withheld if withheld else rooms.keys()
        if not queues:
            return longest
        self._at_store = True
        try:
            found = not self._wake.is_set() and self._backend.wait(queues, longest)
        finally:
            self._at_store = False
        self._idle = not found
        if not found:
            self._empty_polls = 0
            return 0.0
        self._empty_polls += 1
        pause = 0.002 * (1 << min(self._empty_polls, 10))
        # What the store has may be what we leave alone.
        if withheld:
            return min(longest, pause)
        if self._feeding.skipped():
            return min(longest, LOOK_EVERY, pause)
        return 0.0 if self._empty_polls < 3 else min(0.05, 0.002 * self._empty_polls)

    def wake(self) -> None:
        """Look again: a lane has room, or it is time to stop."""
        super().wake()
        if self._at_store:
            self._backend.wake()
