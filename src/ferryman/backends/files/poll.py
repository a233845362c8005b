"""poll: candidates come from hints, the truth is read under each job's own lock."""

from __future__ import annotations

import time
from enum import Enum, auto
from typing import TYPE_CHECKING, Final, NamedTuple

from ferryman.backends.files.claims import Claim
from ferryman.backends.files.document import Unreadable
from ferryman.backends.files.errors import lies_in
from ferryman.backends.files.hints import announce
from ferryman.backends.files.lease import Lease
from ferryman.backends.files.names import name_of
from ferryman.backends.files.pausing import lock_claims
from ferryman.backends.files.place import Held
from ferryman.backends.files.reading import add_lease, read_waiting
from ferryman.job import State

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ferryman.backends.files.desk import Desk
    from ferryman.backends.files.layout import Folders
    from ferryman.backends.files.line import Candidate, Line
    from ferryman.backends.files.row import Row
    from ferryman.job import Job

TRIES: Final = 5
"""Times that a poll goes through its candidates while some of them are locked."""


class Terms(NamedTuple):
    """On what terms a poll claims."""

    worker: str
    lease: float
    turn: int
    skip_tasks: Collection[str]


class Found(Enum):
    """What became of a candidate that was not claimed."""

    OVER = auto()
    BUSY = auto()
    LATER = auto()


def poll(
    desk: Desk,
    worker: str,
    queues: Mapping[str, int],
    *,
    lease: float,
    turn: int,
    skip_tasks: Collection[str],
) -> list[Job]:
    """Claim due jobs from each queue, at most the given number."""
    terms = Terms(worker, lease, turn, skip_tasks)
    jobs: list[Job] = []
    for queue, limit in queues.items():
        line = desk.line(queue)
        if line is None or limit <= 0:
            continue
        folders = desk.store.folders(queue)
        claimer = Claimer(desk, folders, line, terms)
        lock = lock_claims(desk.store, folders)
        if lock is not None:
            try:
                jobs += claimer.claim_and_sweep(limit)
            finally:
                desk.store.disk.unlock(lock)
    return jobs


class Claimer:
    """One poll of one queue."""

    def __init__(self, desk: Desk, folders: Folders, line: Line, terms: Terms) -> None:
        self._desk = desk
        self._store = desk.store
        self._folders = folders
        self._line = line
        self._terms = terms
        self._skip = terms.skip_tasks

    def claim_and_sweep(self, limit: int) -> list[Job]:
        """Claim; where there is too little to claim, look for jobs that no hint leads to."""
        jobs = self.claim(limit)
        queue = self._folders.queue
        try:
            if len(jobs) < limit:
                if self._desk.sweep(queue):
                    jobs += self.claim(limit - len(jobs))
            elif self._desk.sweeper.overdue(queue):
                self._desk.sweep(queue)
        except OSError as error:
            if not jobs:
                raise
            # What is claimed is handed over; whether anything more can be done is seen to.
            self._store.fail(error)
        return jobs

    def claim(self, limit: int) -> list[Job]:
        """Claim what is due. Jobs whose lock somebody holds for a moment are tried again."""
        jobs: list[Job] = []
        for again in range(TRIES):
            with self._store.baton:
                if self._round(jobs, limit):
                    break
            self._line.scatter()
            time.sleep(again * 0.0002)
        return jobs

    def _round(self, jobs: list[Job], limit: int) -> bool:
        """Go through the candidates once; False if it is worth going through them again."""
        self._line.start(self._skip)
        now = self._store.now()
        collided = False
        while len(jobs) < limit:
            candidate = self._line.take(now, self._skip)
            if candidate is None:
                return not collided
            found = self._try(candidate, now)
            if isinstance(found, Found):
                collided = collided or found is Found.BUSY
            else:
                jobs.append(found)
        if collided:
            self._line.scatter()
        return True

    def _try(self, candidate: Candidate, now: float) -> Job | Found:
        """Claim one candidate, or tell the line what is the matter with it."""
        name = name_of(candidate.id)
        disk, path = self._store.disk, f"{self._folders.pending}/{name}"
        try:
            lock = disk.try_lock(path)
        except BlockingIOError:
            self._line.busy(candidate)
            return Found.BUSY
        except OSError as error:
            return self._pass_over(candidate, error, path)
        if lock is None:
            self._line.done(candidate)
            return Found.OVER
        place = Held(self._folders, name, lock)
        try:
            row = self._claimable(candidate, place, now)
            if isinstance(row, Found):
                return row
            job = self._take(row, place, now)
            if job is None:
                self._line.busy(candidate)
                return Found.BUSY
            self._line.done(candidate)
            return job
        except FileNotFoundError as error:
            return self._gone(candidate, error, place)
        except OSError as error:
            return self._pass_over(candidate, error, path)
        except BaseException:
            self._line.busy(candidate)
            raise
        finally:
            disk.unlock(lock)

    def _gone(self, candidate: Candidate, error: FileNotFoundError, place: Held) -> Found:
        """A job that somebody removed by hand while this looked at it is over for good."""
        if self._store.disk.exists("task.json", place.lock):
            return self._pass_over(candidate, error, place.path)
        self._store.check_root()
        self._line.done(candidate)
        return Found.OVER

    def _pass_over(self, candidate: Candidate, error: OSError, path: str) -> Found:
        """Leave a job that cannot be got at to a later poll; any other trouble is everybody's."""
        self._line.busy(candidate)
        if not lies_in(error, path, self._folders.quarantine):
            raise error
        return Found.LATER

    def _claimable(self, candidate: Candidate, place: Held, now: float) -> Row | Found:
        """The job if it may be claimed now; all of this is read under its lock."""
        store, line, adoption = self._store, self._line, self._desk.adoption
        # What is marked is at rest, and not over; what is not was dropped or left by somebody.
        if not store.disk.hinted(place.lock) and not adoption.adopt(place):
            line.done(candidate)
            return Found.OVER
        try:
            row = read_waiting(store, place)
        except Unreadable as error:
            if adoption.set_aside(place, str(error)):
                line.done(candidate)
                return Found.OVER
            line.busy(candidate)
            return Found.BUSY
        if row is None or self._leased(row, place):
            line.done(candidate)
            return Found.OVER
        return self._due(row, candidate, now)

    def _due(self, row: Row, candidate: Candidate, now: float) -> Row | Found:
        line = self._line
        if row.state is State.PAUSED or (row.deadline is not None and row.deadline <= now):
            line.done(candidate)
            return Found.OVER
        if row.priority != candidate.log.priority or row.task != candidate.task:
            # Edited or replaced since: it stands in line where it belongs now.
            announce(self._store, self._folders, row, now)
            line.done(candidate)
            return Found.OVER
        if row.ready_at > now:
            line.later(candidate, row.ready_at)
            return Found.LATER
        return row

    def _leased(self, row: Row, place: Held) -> bool:
        content = self._store.disk.read("lease.json", place.lock)
        if content is None:
            return False
        lease = Lease.read(content)
        if lease is not None and lease.fence > row.fence:
            return True
        # Left over from a claim whose end is in the history, or written by nobody we know.
        self._store.disk.unlink("lease.json", place.lock)
        return False

    def _take(self, row: Row, place: Held, now: float) -> Job | None:
        store, terms = self._store, self._terms
        worker, fence, nonce = terms.worker, row.fence + 1, store.nonce()
        lease = Lease(
            worker, now, fence=fence, attempts=row.attempts + 1, turn=terms.turn, nonce=nonce
        )
        store.prolong(lease, now, terms.lease)
        content = lease.text()
        index = self._desk.index.path(worker, row.queue, place.name, fence, nonce)
        self._desk.index.create(index, content)
        if not store.disk.link(index, "lease.json", at=place.lock):
            # Somebody has put one there by hand since it was looked for.
            store.disk.unlink(index)
            return None
        add_lease(row, lease)
        self._desk.claims.keep(Claim(row, lease, content, index))
        return row.job()
