"""What a worker has ended, added up by queue and five minutes, in cells of its own."""

from __future__ import annotations

import json
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ferryman.job import State
from ferryman.lifecycle import Verdict
from ferryman.tasks.passage import is_errand
from ferryman.worker.histogram import Histogram

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferryman.queue.answers import Reaped, Snapshot
    from ferryman.queue.contract import Backend
    from ferryman.queue.settlement import Receipt, Settlement
    from ferryman.worker.claim import Claim

STEP: Final = 300
"""Seconds of one bucket."""
SPAN: Final = 3_600
"""Seconds that one cell covers: `history/<first second>/<worker>`."""
KEPT: Final = 86_400.0
HISTORY_CELLS: Final = "history/"
OUTCOMES: Final = ("done", "failed", "retried", "cancelled")
LOOKED: Final = ""
"""Stands among the queues of a bucket in which somebody looked: what is not there did not wait."""

_DONE: Final = State.COMPLETED
_ENDS: Final = {State.COMPLETED: "done", State.FAILED: "failed", State.CANCELLED: "cancelled"}
_TIMED: Final = 32
"""Jobs of a batch whose times are looked at: one that ends more at once is timed by a sample."""


@dataclass(slots=True)
class Ended:
    """What came of one queue's jobs within a bucket: how many, how long they waited and ran.

    `oldest` is the most seconds for which a ready one was found to be due; None if nobody looked.
    """

    counts: Counter[str] = field(default_factory=Counter)
    wait: Histogram = field(default_factory=Histogram)
    run: Histogram = field(default_factory=Histogram)
    oldest: float | None = None

    def merge(self, other: Ended) -> None:
        self.counts.update(other.counts)
        self.wait.merge(other.wait)
        self.run.merge(other.run)
        if other.oldest is not None:
            self.look(other.oldest)

    def look(self, oldest: float) -> None:
        """A ready job was found to be due for so long."""
        self.oldest = max(oldest, self.oldest or 0.0)

    def to_json(self) -> list[Any]:
        counts = [self.counts[outcome] for outcome in OUTCOMES]
        times = [[*sorted(h.counts.items())] for h in (self.wait, self.run)]
        return [*counts, *times, None if self.oldest is None else round(self.oldest, 1)]

    @classmethod
    def from_json(cls, facts: Sequence[Any]) -> Ended:
        *counts, wait, run, oldest = facts
        named = {name: int(n) for name, n in zip(OUTCOMES, counts, strict=True)}
        waited, ran = (Histogram({int(b): int(n) for b, n in h}) for h in (wait, run))
        return cls(Counter(named), waited, ran, None if oldest is None else float(oldest))


class Rollup:
    """Counts what one worker ends. Thread-safe.

    A cell is written whole and by this worker alone, so that nothing is counted twice whatever is
    repeated; a worker that is killed takes at most what it ended since its last write with it.
    """

    def __init__(self, backend: Backend, worker: str) -> None:
        self._backend = backend
        self._worker = worker
        self._lock = threading.Lock()
        self._ended: dict[tuple[int, str], Ended] = {}
        self._unwritten: set[int] = set()

    def add(self, batch: Sequence[tuple[Claim, Settlement]], receipts: Sequence[Receipt]) -> None:
        """Count claims that this worker has settled."""
        ends = [
            # Nearly all are plain and done, and need not be asked any further.
            (claim.job.queue, "done")
            if receipt.state is _DONE and receipt.applied and not claim.job.meta
            else (claim.job.queue, _outcome(claim, settlement, receipt))
            for (claim, settlement), receipt in zip(batch, receipts, strict=True)
        ]
        step = 1 + (len(batch) - 1) // _TIMED
        with self._lock:
            at = self._count(Counter(ends))
            for (claim, _), (queue, outcome) in zip(batch[::step], ends[::step], strict=True):
                if outcome is not None:
                    job, ended = claim.job, self._ended[at, queue]
                    ended.run.add(claim.seconds, step)
                    ended.wait.add((job.started_at or 0.0) - job.ready_at, step)

    def add_reaped(self, reaped: Sequence[Reaped]) -> None:
        """Count what this worker has reaped: ends of workers that died."""
        ends = Counter((one.queue, _reaped_as(one)) for one in reaped)
        with self._lock:
            self._count(ends)

    def add_ages(self, snapshot: Snapshot) -> None:
        """Note how long the oldest ready job of each queue has been due, and that one looked."""
        ages = {name: counts.oldest_ready for name, counts in snapshot.queues.items()}
        with self._lock:
            at = self._count({})
            self._unwritten.add(_span(at))
            for queue, age in {LOOKED: 0.0, **ages}.items():
                if age is not None:
                    self._ended.setdefault((at, queue), Ended()).look(age)

    def write(self) -> None:
        """Store what has changed since the last time, and let go of what is over."""
        with self._lock:
            values = {span: self._value(span) for span in sorted(self._unwritten)}
            self._unwritten.clear()
        try:
            for span, value in values.items():
                key = f"{HISTORY_CELLS}{span}/{self._worker}"
                self._backend.write_cell(key, value, expect=None, ttl=KEPT)
        except BaseException:
            with self._lock:
                self._unwritten.update(values)
            raise
        with self._lock:
            needed = self._unwritten | {max(values, default=0)}
            for at, queue in list(self._ended):
                if values and _span(at) not in needed:
                    del self._ended[at, queue]

    def _count(self, ends: Mapping[tuple[str, str | None], int]) -> int:
        """Add to the bucket of this moment, under the lock; when that bucket begins."""
        now = int(self._backend.clock.now())
        at = now - now % STEP
        for (queue, outcome), n in ends.items():
            if outcome is not None:
                self._ended.setdefault((at, queue), Ended()).counts[outcome] += n
                self._unwritten.add(_span(at))
        return at

    def _value(self, span: int) -> str:
        buckets: dict[int, dict[str, Any]] = {}
        for (at, queue), ended in self._ended.items():
            if _span(at) == span:
                buckets.setdefault(at, {})[queue] = ended.to_json()
        return json.dumps(buckets, separators=(",", ":"))


def _span(at: int) -> int:
    return at - at % SPAN


def _outcome(claim: Claim, settlement: Settlement, receipt: Receipt) -> str | None:
    """What became of a claim; None if that is no end: given back, paused, lost, or the engine's."""
    job = claim.job
    if not receipt.applied or (job.meta and is_errand(job.task)):
        return None
    if receipt.state is State.PENDING:
        return "retried" if settlement.verdict is Verdict.NACK else None
    return _ENDS.get(receipt.state) if receipt.state is not None else None


def _reaped_as(one: Reaped) -> str | None:
    if is_errand(one.task):
        return None
    return "retried" if one.state is State.PENDING else _ENDS.get(one.state)
