"""Moves jobs to another store: none is lost, none can run twice, and a killed move can go on."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from ferryman.errors import NotAllowed
from ferryman.service.move.journal import Journal
from ferryman.service.move.lock import Lock
from ferryman.service.move.page import Page
from ferryman.service.move.pauses import Pauses
from ferryman.service.move.report import Carried, Left, Step, Tell, say_nothing
from ferryman.service.move.survey import Survey
from ferryman.service.move.unusable import unusable

if TYPE_CHECKING:
    from ferryman.filter import Filter
    from ferryman.queue.contract import Backend

PAGE: Final = 100
"""Jobs a page: so many are at most between the stores when a move is killed."""
PASSES: Final = 10
"""Looks at the source: a producer that goes on pushing must not keep a move busy for ever."""
LOOK_EVERY: Final = 0.2
REAPED: Final = 1_000


def move(
    source: Backend, target: Backend, where: Filter, *, wait: float = 0.0, tell: Tell = say_nothing
) -> Carried:
    """Move the jobs that match, in push order, with everything that is known of them.

    Their queues are paused at the source meanwhile and get their own pause back at the end. Running
    jobs may end within `wait` seconds, or stay. Killed at any point and called again, it goes on.
    `NotAllowed` while another move from the same source is under way, or onto itself.
    """
    with Lock(source) as lock:
        if lock.is_on(target):
            # A job copied onto itself would be deleted as its own original.
            raise NotAllowed("source and target are the same store: nothing was moved")
        return _Move(source, target, where, lock, tell).run(wait)


class _Move:
    def __init__(
        self, source: Backend, target: Backend, where: Filter, lock: Lock, tell: Tell
    ) -> None:
        self._source = source
        self._where = where
        self._lock = lock
        self._tell = tell
        self._pauses = Pauses(source)
        self._journal = Journal(source, target)
        self._page = Page(source, target, self._journal)

    def run(self, wait: float) -> Carried:
        try:
            self._page.finish()
            self._reap()
            found = self._survey()
            self._tell(Step("found", len(found.ids)))
            found = self._wait(found, wait)
            for _ in range(PASSES):
                if not self._carry(found):
                    break
                found = self._survey()
            self._journal.clear()
        finally:
            self._pauses.restore()
        return Carried(self._page.moved, self._page.existing, self._left(found))

    def _survey(self) -> Survey:
        """What matches now; claims from its queues have stopped when this returns."""
        found = Survey.of(self._source, self._where)
        self._pauses.pause({*found.queues.values()})
        return found

    def _wait(self, found: Survey, seconds: float) -> Survey:
        """Give running jobs time to end, and what a dead worker left to its reaper."""
        deadline = time.monotonic() + seconds
        told = 0
        while found.running and (left := deadline - time.monotonic()) > 0:
            if len(found.running) != told:
                told = len(found.running)
                self._tell(Step("waiting", told))
            time.sleep(min(LOOK_EVERY, left))
            self._lock.renew()
            self._reap()
            found = self._survey()
        return found

    def _reap(self) -> None:
        while len(self._source.reap(REAPED)) >= REAPED:
            pass

    def _carry(self, found: Survey) -> bool:
        """One pass; whether there was anything to move."""
        hopeless = {left.id for left in self._page.left} | {*found.running}
        todo = [job_id for job_id in found.ids if job_id not in hopeless]
        for start in range(0, len(todo), PAGE):
            self._lock.renew()
            before = self._page.moved
            self._page.carry(todo[start : start + PAGE])
            self._tell(Step("carried", self._page.moved - before))
        return bool(todo)

    def _left(self, found: Survey) -> list[Left]:
        reasons = {left.id: left.why for left in self._page.left}
        reasons |= dict.fromkeys(found.running, "it still runs")
        newer = "it came or changed while the move was under way"
        jobs = [
            Left(job_id, found.queues[job_id], reasons.get(job_id, newer)) for job_id in found.ids
        ]
        return [*jobs, *unusable(self._source, self._where)]
