"""A very large store, filled by its own database: finished jobs of thirty days, and a backlog.

`python -m bench.crowd URL --finished N --waiting M`. The rows are those that the engine would have
left: counters, meta, errors and the workers' rollups agree with them.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bench.crowd_sql import POSTGRESQL, SQLITE, Dialect
from ferryman.queue.open import open_backend
from ferryman.worker.rollup import HISTORY_CELLS, KEPT, SPAN, Ended

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ferryman.queue.contract import Backend

FINISHED: Final = 10_000_000
WAITING: Final = 1_000_000
DAYS: Final = 30
BACKLOG: Final = 3_600.0
"""Seconds over which the waiting jobs were pushed; before that, the finished ones."""
CHUNK: Final = 250_000
QUEUES: Final = ("mail", "thumbnails", "invoices", "search-index", "webhooks", "reports")
RARE: Final = "audit-export"
"""A queue that one job in some fifty thousand is for."""
TASKS: Final = ("prepare", "send", "confirm")
ERRORS: Final = tuple(
    (kind, f"{kind}: {text} number ")
    for kind in ("TimeoutError", "ConnectionError", "ValueError", "KeyError", "SmtpError")
    for text in (
        "the server did not answer for",
        "the mailbox is full of",
        "no such customer with",
        "a picture has no colours:",
        "the total does not add up in",
        "the address is not one:",
        "the index is read-only for",
        "the quota of the day is spent by",
    )
)
WORKERS: Final = tuple(f"crowd-{number}:{4000 + number}:0f{number}" for number in range(4))
_ENDS: Final = {"completed": "done", "failed": "failed", "cancelled": "cancelled"}


@dataclass(frozen=True, slots=True)
class Crowd:
    """How many jobs a store is to get; the first seq is 1, so it must be an empty one."""

    finished: int = FINISHED
    waiting: int = WAITING

    def fill(self, url: str, tell: Callable[[str], object]) -> None:
        """Fill the store of a URL; `tell` hears of every part."""
        backend = open_backend(url)
        try:
            if backend.snapshot().queues:
                raise ValueError(f"{url} has jobs already: a crowd needs an empty store")
            now = backend.clock.now()
        finally:
            backend.close()
        dialect = POSTGRESQL if url.startswith("postgres") else SQLITE
        with dialect.connect(url) as run:
            for statements, first, last in self._parts(dialect):
                for statement in statements:
                    run(statement, {**self._values(now), "first": first, "last": last})
                tell(f"{last:,} of {self.finished + self.waiting:,} jobs")
            for statement in dialect.afterwards:
                tell(f"then {' '.join(statement.split())[:60]}")
                run(statement, {})
            ends = run(dialect.ends, {"since": now - KEPT})
        backend = open_backend(url)
        try:
            write_rollups(backend, ends)
        finally:
            backend.close()

    def _parts(self, dialect: Dialect) -> Iterator[tuple[Sequence[str], int, int]]:
        both = (
            (dialect.finished, 0, self.finished),
            (dialect.waiting, self.finished, self.waiting),
        )
        for statements, before, jobs in both:
            for start in range(0, jobs, CHUNK):
                yield statements, before + start + 1, before + min(jobs, start + CHUNK)

    def _values(self, now: float) -> dict[str, object]:
        length = DAYS * 86_400.0 - BACKLOG
        return {
            "begin": now - DAYS * 86_400.0,
            "step": length / max(1, self.finished),
            "backlog": now - BACKLOG,
            "gap": BACKLOG / max(1, self.waiting),
            "before": self.finished,
            "now": now,
            "lines": json.dumps([[queue, f"{queue}.{task}"] for queue in QUEUES for task in TASKS]),
            "rare": RARE,
            "errors": json.dumps(ERRORS),
            "workers": json.dumps(WORKERS),
        }


def write_rollups(backend: Backend, ends: Sequence[Sequence[object]]) -> None:
    """What the workers would have kept of the last day, from rows of what ended how."""
    cells: dict[tuple[int, str], dict[int, dict[str, Ended]]] = {}
    for at, queue, worker, state, wait, run, n in ends:
        bucket, count = int(str(at)), int(str(n))
        cell = cells.setdefault((bucket - bucket % SPAN, str(worker)), {})
        ended = cell.setdefault(bucket, {}).setdefault(str(queue), Ended())
        ended.counts[_ENDS[str(state)]] += count
        ended.wait.add(float(str(wait)), count)
        ended.run.add(float(str(run)), count)
    for (span, worker), buckets in cells.items():
        value = {at: {q: e.to_json() for q, e in by.items()} for at, by in buckets.items()}
        backend.write_cell(
            f"{HISTORY_CELLS}{span}/{worker}", json.dumps(value), expect=None, ttl=KEPT
        )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser("python -m bench.crowd", description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--finished", type=int, default=FINISHED)
    parser.add_argument("--waiting", type=int, default=WAITING)
    asked = parser.parse_args(arguments)
    started = time.monotonic()

    def tell(text: str) -> None:
        sys.stderr.write(f"{time.monotonic() - started:7.1f} s  {text}\n")
        sys.stderr.flush()

    Crowd(asked.finished, asked.waiting).fill(asked.url, tell)


if __name__ == "__main__":
    main()
