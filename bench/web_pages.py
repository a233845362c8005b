"""What the dashboard's pages ask: on opening, and again while they are open.

A test compares this with the pages' own scripts.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from bench.visitor import target

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench.visitor import Visitor

ME: Final = "/v1/me"
AT_ONCE: Final = 6
"""Connections that a browser opens to one server."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One `useData` of a page: what it asks, and how often again (seconds; see data.js)."""

    path: str
    query: Mapping[str, object] = field(default_factory=dict)
    every: float = 1.0
    beat: float = 0.0
    live: bool = True
    queue: str | None = None

    @property
    def target(self) -> str:
        return target(self.path, **self.query)


def pages(queue: str, job: str) -> Mapping[str, Sequence[Ask]]:
    """Every page of the menu by its name, those of a queue and of a job with these."""
    overview = Ask("overview", live=False)
    return {
        "overview": [
            overview,
            Ask("history", {"hours": 1}, every=15),
            Ask("failures", {"since": 86_400}, every=30),
            Ask("breakers", every=30),
        ],
        "queues": [overview],
        "queue": [
            Ask(f"queues/{queue}", every=6, queue=queue),
            Ask("history", {"queue": queue, "hours": 1}, every=15, queue=queue),
        ],
        "jobs": [
            Ask("jobs", {"limit": 50}, every=5, beat=5),
            Ask("jobs/counts", every=10),
        ],
        "jobs, filtered": [
            Ask("jobs", {"where": f"queue:{queue} state:failed", "limit": 50}, every=5, beat=5),
            Ask("jobs/counts", {"where": f"queue:{queue}"}, every=10),
        ],
        "job": [Ask(f"jobs/{job}", every=2.5, beat=10)],
        "failures": [Ask("failures", {"since": 86_400}, every=5)],
        "pipelines": [Ask("pipelines", every=60)],
        "schedules": [Ask("schedules", every=5, beat=10)],
        "workers": [Ask("workers", every=5, beat=5)],
        "limits": [
            Ask("breakers", every=6, beat=6),
            Ask("rates", every=6, beat=6),
            Ask("permits", every=6, beat=6),
        ],
        "health": [Ask("health", every=30), Ask("overview", every=30)],
        "audit": [Ask("audit", {"limit": 50}, every=5, beat=5)],
        "keys": [Ask("keys", every=5)],
    }


def run_pages(pipeline: str, run: str) -> Mapping[str, Sequence[Ask]]:
    """Those of a store with one pipeline that has runs; as if every change were about them."""
    runs = Ask("runs", {"pipeline": pipeline, "limit": 5}, every=15)
    return {
        "pipelines": [Ask("pipelines", every=60), runs],
        "run": [
            Ask(f"runs/{run}", every=10),
            Ask(f"runs/{run}/jobs", {"limit": 500}, live=False),
        ],
    }


class Browser:
    """Opens pages as one does: who am I, then everything that the page asks at once."""

    def __init__(self, visitor: Visitor) -> None:
        self._pool = ThreadPoolExecutor(AT_ONCE)
        self._visitors = [visitor.another() for _ in range(AT_ONCE)]

    def open(self, asks: Sequence[Ask]) -> None:
        """Return when all is answered."""
        self._visitors[0].fetch(ME)
        under_way = [
            self._pool.submit(visitor.fetch, ask.target)
            for visitor, ask in zip(self._visitors, asks, strict=False)
        ]
        for answer in under_way:
            answer.result()

    def close(self) -> None:
        self._pool.shutdown()
        for visitor in self._visitors:
            visitor.close()
