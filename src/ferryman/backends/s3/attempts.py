"""Claims of many jobs at once: the requests overlap, the local tree is left to one thread.

Every call to a disk lets go of Python's lock, and sixteen threads that take it back from each other
spend more time on that than on the calls.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ferryman.backends.files.hints import announce
from ferryman.backends.files.moments import whole
from ferryman.backends.files.names import name_of
from ferryman.backends.files.place import Held
from ferryman.backends.files.poll import Found
from ferryman.backends.s3.errors import UnreadableObject
from ferryman.backends.s3.settle import take_over
from ferryman.backends.s3.sight import Sight, see
from ferryman.backends.s3.swap import swap, write
from ferryman.backends.s3.upload import upload
from ferryman.job import State

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ferryman.backends.files.layout import Folders
    from ferryman.backends.files.line import Candidate, Line
    from ferryman.backends.files.poll import Terms
    from ferryman.backends.s3.node import Node


class Attempt:
    """One candidate of a round. `place`: its folder is locked, and shows that the job is due.

    `seen` is how it shows it, `taken` the claim. `lost`: what it shows is old. `answer` is what
    became of the candidate; None: it is to be tried apart.
    """

    __slots__ = ("answer", "candidate", "error", "lost", "place", "seen", "taken")

    def __init__(self, candidate: Candidate) -> None:
        self.candidate = candidate
        self.place: Held | None = None
        self.seen: Sight | None = None
        self.taken: Sight | None = None
        self.lost = False
        self.error: BaseException | None = None
        self.answer: Sight | Found | None = None


class Attempts:
    """The attempts of one poll at one queue.

    Each claim is made under the lock of the job's folder, so that the processes of one node do not
    fight in S3.
    """

    def __init__(self, node: Node, folders: Folders, line: Line, terms: Terms) -> None:
        self._node = node
        self._store = node.store
        self._folders = folders
        self._line = line
        self._terms = terms

    def together(self, candidates: Sequence[Candidate]) -> list[Sight | Found]:
        """Claim these, of different jobs, or tell the line what is the matter with each.

        What takes more than one write is tried apart, when these have no lock any more: whoever
        holds one must not wait for another, nor for a thread that may wait for it.
        """
        attempts = [Attempt(candidate) for candidate in candidates]
        try:
            for attempt in attempts:
                self._begin(attempt)
            self._claim_all([attempt for attempt in attempts if attempt.place is not None])
        except BaseException:
            for attempt in attempts:
                if attempt.answer is None:
                    self._line.busy(attempt.candidate)
            raise
        finally:
            for attempt in attempts:
                if attempt.place is not None:
                    self._store.disk.unlock(attempt.place.lock)
        self._node.each(self._retry, [attempt for attempt in attempts if attempt.answer is None])
        return [attempt.answer for attempt in attempts if attempt.answer is not None]

    def apart(self, candidate: Candidate, *, lost: bool = False) -> Sight | Found:
        """Claim one candidate, whatever it takes; `lost`: what its folder shows is old."""
        place = self._lock(candidate)
        if isinstance(place, Found):
            return place
        try:
            found = self._claim(candidate, place, lost=lost)
        except UnreadableObject:
            # The passes name it. What is shown here stays: it may be the only copy of the work.
            self._line.done(candidate)
            return Found.OVER
        except BaseException:
            self._line.busy(candidate)
            raise
        finally:
            self._store.disk.unlock(place.lock)
        if isinstance(found, Sight) and found.owed:
            take_over(self._node, found)
            return Found.OVER
        return found

    # -- many at once

    def _begin(self, attempt: Attempt) -> None:
        """Lock and read one; a plain job of the bucket that is due keeps its lock."""
        candidate = attempt.candidate
        place = self._lock(candidate)
        if isinstance(place, Found):
            attempt.answer = place
            return
        try:
            hinted = self._store.disk.hinted(place.lock)
            seen = self._node.mirror.read(place) if hinted else None
            if seen is not None and not seen.by_people:
                attempt.answer = self._due(candidate, seen, self._store.now())
                if attempt.answer is None:
                    attempt.place, attempt.seen = place, seen
        finally:
            if attempt.place is None:
                self._store.disk.unlock(place.lock)

    def _claim_all(self, attempts: Sequence[Attempt]) -> None:
        """The requests, and then what came of them; all is shown before an error is raised."""
        if not attempts:
            return
        names = [name_of(attempt.candidate.id) for attempt in attempts]
        with self._node.doubts.about(self._folders.queue, names):
            self._node.together([partial(self._request, attempt) for attempt in attempts])
            for attempt in attempts:
                self._show(attempt)
            for attempt in attempts:
                if attempt.error is not None:
                    raise attempt.error

    def _request(self, attempt: Attempt) -> None:
        try:
            if attempt.seen is not None:
                attempt.taken = self._take(attempt.seen, write)
                attempt.lost = attempt.taken is None
        except BaseException as error:
            attempt.error = error

    def _show(self, attempt: Attempt) -> None:
        if attempt.place is None or attempt.taken is None:
            return
        attempt.answer = attempt.taken
        try:
            self._won(attempt.candidate, attempt.place, attempt.taken)
        except BaseException as error:
            attempt.error = error

    def _retry(self, attempt: Attempt) -> None:
        attempt.answer = self.apart(attempt.candidate, lost=attempt.lost)

    # -- one

    def _lock(self, candidate: Candidate) -> Held | Found:
        name = name_of(candidate.id)
        try:
            lock = self._store.disk.try_lock(self._folders.job(name))
        except BlockingIOError:
            self._line.busy(candidate)
            return Found.BUSY
        if lock is None:
            self._line.done(candidate)
            return Found.OVER
        return Held(self._folders, name, lock)

    def _claim(self, candidate: Candidate, place: Held, *, lost: bool) -> Sight | Found:
        sight = self._look_again(candidate, place) if lost else self._uploaded(candidate, place)
        for _ in range(2):
            if isinstance(sight, Found) or sight.owed:
                return sight
            due = self._due(candidate, sight, self._store.now())
            if due is not None:
                return due
            taken = self._take(sight, swap)
            if taken is not None:
                self._won(candidate, place, taken)
                self._node.doubts.end(self._folders.queue, place.name)
                return taken
            sight = self._look_again(candidate, place)
        if isinstance(sight, Found) or sight.owed:
            return sight
        self._line.busy(candidate)
        return Found.BUSY

    def _uploaded(self, candidate: Candidate, place: Held) -> Sight | Found:
        """The job as it is known here; one that people dropped here goes into the bucket first."""
        node, disk = self._node, self._store.disk
        sight = None
        if disk.hinted(place.lock) or node.desk.adoption.adopt(place):
            sight = node.mirror.read(place)
        if sight is not None and sight.by_people:
            sight = upload(node, place, sight)
        if sight is None:
            self._line.done(candidate)
            return Found.OVER
        return sight

    def _look_again(self, candidate: Candidate, place: Held) -> Sight | Found:
        """The job as the bucket has it; `owed` if it is over and somebody has to tidy up."""
        node = self._node
        sight = see(node, self._folders.queue, place.name)
        if sight is None:
            node.mirror.drop(place, node.mirror.read(place))
            self._line.done(candidate)
            return Found.OVER
        if sight.owed:
            self._line.done(candidate)
        else:
            node.mirror.write(place, sight)
        return sight

    def _won(self, candidate: Candidate, place: Held, taken: Sight) -> None:
        self._line.done(candidate)
        self._node.claims[taken.row.id] = taken
        self._node.mirror.claim(place, taken)

    def _due(self, candidate: Candidate, sight: Sight, now: float) -> Found | None:
        line = self._line
        if sight.row.state is not State.PENDING or sight.gone:
            line.done(candidate)
            return Found.OVER
        row = sight.row
        if row.deadline is not None and row.deadline <= now:
            line.done(candidate)
            return Found.OVER
        if row.priority != candidate.log.priority or row.task != candidate.task:
            announce(self._store, self._folders, row, now)
            line.done(candidate)
            return Found.OVER
        if row.ready_at > now:
            line.later(candidate, row.ready_at)
            return Found.LATER
        return None

    def _take(self, sight: Sight, put: Callable[..., Sight | None]) -> Sight | None:
        now = self._store.now()
        row = sight.fork()
        row.state = State.PROCESSING
        row.fence += 1
        row.attempts += 1
        row.worker = self._terms.worker
        row.started_at = row.heartbeat_at = now
        row.expires_at = whole(now + self._node.doubt + self._terms.lease)
        return put(self._node, sight, row, turn=self._terms.turn)
