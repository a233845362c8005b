"""poll: candidates come from the local tree, each claim is one conditional write.

The write alone decides: whoever was faster elsewhere has changed or made `lease.json`, and a job
that ended elsewhere leaves its `lease.json` behind for a while.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.files.hints import announce
from ferryman.backends.files.moments import whole
from ferryman.backends.files.names import name_of
from ferryman.backends.files.pausing import lock_claims
from ferryman.backends.files.place import Held
from ferryman.backends.files.poll import Found, Terms
from ferryman.backends.s3.finish import finish
from ferryman.backends.s3.sight import Sight, see
from ferryman.backends.s3.swap import swap
from ferryman.backends.s3.upload import upload
from ferryman.job import State

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ferryman.backends.files.layout import Folders
    from ferryman.backends.files.line import Candidate, Line
    from ferryman.backends.s3.node import Node
    from ferryman.job import Job


def poll(
    node: Node,
    worker: str,
    queues: Mapping[str, int],
    *,
    lease: float,
    turn: int,
    skip_tasks: Collection[str],
) -> list[Job]:
    """Claim due jobs from each queue, at most the given number.

    An empty answer was confirmed by the bucket: it is never an outage.
    """
    terms = Terms(worker, lease, turn, skip_tasks)
    node.mark.make()
    node.sync.at_least_fresh()
    ready = {q: limit for q, limit in queues.items() if limit > 0 and not node.pausing.paused(q)}
    # Before the first claim, whose lease runs from then on: a look may take its time.
    for queue in node.short & ready.keys():
        _look(node, queue)
    jobs = _claim_each(node, ready, terms)
    if not jobs:
        new = [_look(node, queue) for queue in ready]
        jobs = _claim_each(node, ready, terms) if any(new) else jobs
    if not jobs:
        node.pausing.ask_again(queues)
    return jobs


def _look(node: Node, queue: str) -> bool:
    """Look for jobs that nothing leads to yet, here and in the bucket, if it is time to."""
    return node.desk.sweep(queue) or node.sync.look(queue)


def _claim_each(node: Node, queues: Mapping[str, int], terms: Terms) -> list[Job]:
    jobs: list[Job] = []
    for queue, limit in queues.items():
        found = _claim(node, queue, limit, terms)
        (node.short.add if len(found) < limit else node.short.discard)(queue)
        jobs += found
    return jobs


def _claim(node: Node, queue: str, limit: int, terms: Terms) -> list[Job]:
    line = node.desk.line(queue)
    if line is None:
        return []
    store = node.store
    folders = store.folders(queue)
    lock = lock_claims(store, folders)
    if lock is None:
        return []
    try:
        return Claimer(node, folders, line, terms).claim(limit)
    finally:
        store.disk.unlock(lock)


class Claimer:
    """One poll of one queue."""

    def __init__(self, node: Node, folders: Folders, line: Line, terms: Terms) -> None:
        self._node = node
        self._store = node.store
        self._folders = folders
        self._line = line
        self._terms = terms

    def claim(self, limit: int) -> list[Job]:
        """Claim what is due, as many at once as are wanted."""
        jobs: list[Job] = []
        self._line.start(self._terms.skip_tasks)
        now = self._store.now()
        while len(jobs) < limit:
            wanted = range(limit - len(jobs))
            taken = (self._line.take(now, self._terms.skip_tasks) for _ in wanted)
            candidates = [candidate for candidate in taken if candidate is not None]
            if not candidates:
                break
            found = self._try_each(candidates)
            jobs += [sight.row.job() for sight in found if isinstance(sight, Sight)]
            if Found.BUSY in found:
                self._line.scatter()
        return jobs

    def _try_each(self, candidates: Sequence[Candidate]) -> Sequence[Sight | Found]:
        """Try them at once; of two hints of one job, which would find it locked by each other, one
        after the other.
        """
        firsts: dict[str, Candidate] = {}
        for candidate in candidates:
            firsts.setdefault(candidate.id, candidate)
        found = dict(zip(firsts, self._node.each(self._try, firsts.values()), strict=True))
        return [
            found[each.id] if firsts[each.id] is each else self._try(each) for each in candidates
        ]

    def _try(self, candidate: Candidate) -> Sight | Found:
        """Claim one candidate, or tell the line what is the matter with it."""
        name, disk = name_of(candidate.id), self._store.disk
        try:
            lock = disk.try_lock(self._folders.job(name))
        except BlockingIOError:
            self._line.busy(candidate)
            return Found.BUSY
        if lock is None:
            self._line.done(candidate)
            return Found.OVER
        try:
            found = self._claim(candidate, Held(self._folders, name, lock))
        except BaseException:
            self._line.busy(candidate)
            raise
        finally:
            disk.unlock(lock)
        if isinstance(found, Sight) and found.owed:
            finish(self._node, found)
            return Found.OVER
        return found

    def _claim(self, candidate: Candidate, place: Held) -> Sight | Found:
        """All of this under the lock, so that the processes of one node do not fight in S3."""
        node = self._node
        sight = self._uploaded(place)
        for _ in range(2):
            now = self._store.now()
            due = self._due(candidate, sight, now)
            if isinstance(due, Found) or sight is None:
                return due if isinstance(due, Found) else Found.OVER
            taken = self._take(sight, now)
            if taken is not None:
                self._line.done(candidate)
                node.claims[taken.row.id] = taken
                node.mirror.rewrite(place, sight, taken)
                return taken
            sight = see(node, self._folders.queue, place.name)
            if sight is None:
                node.mirror.drop(place, node.mirror.read(place))
                self._line.done(candidate)
                return Found.OVER
            if sight.owed:
                self._line.done(candidate)
                return sight
            node.mirror.write(place, sight)
        self._line.busy(candidate)
        return Found.BUSY

    def _uploaded(self, place: Held) -> Sight | None:
        """The job as it is known here; one that people dropped here goes into the bucket first."""
        node, disk = self._node, self._store.disk
        if not disk.hinted(place.lock) and not node.desk.adoption.adopt(place):
            return None
        sight = node.mirror.read(place)
        if sight is None or sight.task is not None:
            return sight
        return upload(node, place, sight)

    def _due(self, candidate: Candidate, sight: Sight | None, now: float) -> Found | None:
        line = self._line
        if sight is None or sight.row.state is not State.PENDING or sight.gone:
            line.done(candidate)
            return Found.OVER
        row = sight.row
        if row.deadline is not None and row.deadline <= now:
            line.done(candidate)
            return Found.OVER
        if row.priority != candidate.log.priority or row.task != candidate.task:
            announce(self._store, self._folders, [row], now)
            line.done(candidate)
            return Found.OVER
        if row.ready_at > now:
            line.later(candidate, row.ready_at)
            return Found.LATER
        return None

    def _take(self, sight: Sight, now: float) -> Sight | None:
        row = sight.fork()
        row.state = State.PROCESSING
        row.fence += 1
        row.attempts += 1
        row.worker = self._terms.worker
        row.started_at = row.heartbeat_at = now
        row.expires_at = whole(now + self._node.doubt + self._terms.lease)
        return swap(self._node, sight, row, turn=self._terms.turn)
