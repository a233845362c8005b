"""poll: candidates come from the local tree, each claim is one conditional write.

The write alone decides: whoever was faster elsewhere has changed or made `lease.json`, and a job
that ended elsewhere leaves its `lease.json` behind for a while.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.files.entry import TOGETHER
from ferryman.backends.files.pausing import lock_claims
from ferryman.backends.files.poll import Found, Terms
from ferryman.backends.s3.attempts import Attempts
from ferryman.backends.s3.sight import Sight

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
        self._store = node.store
        self._line = line
        self._terms = terms
        self._attempts = Attempts(node, folders, line, terms)

    def claim(self, limit: int) -> list[Job]:
        """Claim what is due, as many at once as are wanted."""
        jobs: list[Job] = []
        self._line.start(self._terms.skip_tasks)
        now = self._store.now()
        while len(jobs) < limit:
            wanted = range(min(limit - len(jobs), TOGETHER))
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
        found = dict(zip(firsts, self._attempts.together(list(firsts.values())), strict=True))
        return [
            found[each.id] if firsts[each.id] is each else self._attempts.apart(each)
            for each in candidates
        ]
