"""How a whole worker calls its store: how often, with how many jobs, for how long."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from bench.crew import Threads
from bench.measure import drained
from bench.stand import stand_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.ours import Ours
    from ferryman import Event


class Calls:
    """The book of one drain by a worker in this process, kept by its `backend.call` events.

    `micros` is what a job took altogether.
    """

    def __init__(self, jobs: int) -> None:
        self.micros = 0.0
        self._jobs = jobs
        self._book: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)

    @classmethod
    def of_a_drain(cls, kind: type[Ours], jobs: int) -> Calls:
        """Drain this many and book what the worker, and whoever watches it, calls meanwhile."""
        calls = cls(jobs)
        with stand_for(kind) as stand:
            stand.fill(jobs)
            stand.contender.ferry.on("backend.call")(calls._note)
            with Threads(stand.contender, 1) as crew:
                crew.go()
                calls.micros = 1e6 / drained(stand, crew, jobs, None)
        return calls

    def lines(self) -> Iterator[str]:
        """The book as text: calls, jobs asked for in each, microseconds a job."""
        yield "\n  calls of that worker; they overlap, and wait for each other"
        for verb, calls in sorted(self._book.items()):
            sizes = sum(size for size, _ in calls) / len(calls)
            micros = sum(seconds for _, seconds in calls) * 1e6 / self._jobs
            yield f"    {verb:<12} {len(calls):>6} calls of {sizes:>8,.0f}       {micros:>8.2f}"

    def _note(self, event: Event) -> None:
        self._book[event["verb"]].append((event["size"], event["seconds"]))
