"""What each figure must reach (gate) and what we aim at (goal)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

PUSH: Final = "push, jobs/s"
PUSH_MANY: Final = "push_many by 1,000, jobs/s"
CYCLE: Final = "push + poll + settle by 100, jobs/s"
DRAIN: Final = "drain, 1 worker, jobs/s"
DRAIN_BY_TWO: Final = "drain, 2 workers, jobs/s"
MANY_TO_ONE: Final = "push_many by 1,000 to push, jobs/s"
FOLDER_SYNCS: Final = "push_many by 1,000, folder syncs a job"
TWO_TO_ONE: Final = "drain, 2 workers to 1, jobs/s"
VERBS: Final = ("push", "claim", "settle")
REQUESTS: Final = "requests a job"
DOLLARS: Final = "a million jobs at AWS's list price, US$"
IDLE_P50: Final = "idle push to start, p50, ms"
IDLE_P99: Final = "idle push to start, p99, ms"
HELD: Final = "claim p99 beside a transaction held for 10 min to before, ms"
RECOVERED: Final = "claim p99 a minute after it to before, ms"

READS: Final = 200
"""Mixed reads a second that a server must answer."""
READS_MOST: Final = 50.0
READS_P50: Final = f"{READS} mixed reads/s beside 500 jobs/s, p50, ms"
READS_P99: Final = f"{READS} mixed reads/s beside 500 jobs/s, p99, ms"
READS_BACKLOG: Final = f"{READS} mixed reads/s beside 500 jobs/s, backlog grown by, jobs"
READS_HELD: Final = "mixed reads held beside 500 jobs/s, reads/s"


def page(name: str) -> str:
    """The name of how long a page of the dashboard takes to open."""
    return f"page {name}, p95, ms"


def listed(where: str) -> str:
    """The name of how long a list takes, or its counts, or its second page."""
    return f"list {where}, p95, ms"


def scanned(field: str) -> str:
    """The name of how long a filter without an index takes."""
    return f"scan by {field}, longest, ms"


def looked_at(field: str) -> str:
    """The name of how many jobs it looked at in that time."""
    return f"jobs seen by a scan by {field}"


def tab(name: str, meanwhile: str) -> str:
    """The name of what an open tab costs."""
    return f"open tab {name} while {meanwhile}, questions/s"


def backlog(waiting: int) -> str:
    """The name of the poll beside a backlog of this size."""
    return f"poll of 10 at {waiting:,} waiting to 1,000, ms"


def by_a_hundred(verb: str) -> str:
    """The name of a bare verb's rate."""
    return f"{verb} by 100, jobs/s"


def requests(verb: str) -> str:
    """The name of what a verb asks of a server."""
    return f"{verb} by 100, requests a job"


def drain_beside(waiting: int) -> str:
    """The name of the drain beside a backlog of this size."""
    return f"drain at {waiting:,} waiting to 20,000, jobs/s"


@dataclass(frozen=True, slots=True)
class Gate:
    """A bound on the ratio, or with `absolute` on our own figure; `most`: an upper bound."""

    gate: float
    goal: float
    absolute: bool = False
    most: bool = False

    def met(self, ours: float, ratio: float | None, bound: float) -> bool:
        figure = ours if self.absolute else ratio
        if figure is None:
            return False
        return figure <= bound if self.most else figure >= bound


_SQLITE: Final = {
    PUSH: Gate(0.60, 0.80),
    PUSH_MANY: Gate(0.35, 0.50),
    DRAIN: Gate(0.25, 0.40),
    TWO_TO_ONE: Gate(1.0, 1.2),
    IDLE_P50: Gate(5, 3, absolute=True, most=True),
    IDLE_P99: Gate(15, 8, absolute=True, most=True),
    backlog(100_000): Gate(1.5, 1.2, most=True),
    backlog(1_000_000): Gate(1.5, 1.2, most=True),
}
_MEMORY: Final = {
    DRAIN: Gate(40_000, 70_000, absolute=True),
    CYCLE: Gate(100_000, 200_000, absolute=True),
    IDLE_P50: Gate(2, 0.5, absolute=True, most=True),
}
_FILE: Final = {
    PUSH: Gate(0.60, 0.80),
    DRAIN: Gate(0.40, 0.60),
    MANY_TO_ONE: Gate(1.5, 3.0),
    FOLDER_SYNCS: Gate(0.05, 0.02, absolute=True, most=True),
    drain_beside(500_000): Gate(0.80, 0.95),
    drain_beside(1_000_000): Gate(0.80, 0.95),
}
_S3: Final = {by_a_hundred("claim"): Gate(0.70, 0.90)}
_SQS: Final = {
    PUSH_MANY: Gate(0.70, 0.90),
    DRAIN: Gate(0.70, 0.90),
    REQUESTS: Gate(0.40, 0.35, absolute=True, most=True),
}
_POSTGRESQL: Final = {
    PUSH: Gate(0.75, 0.90),
    PUSH_MANY: Gate(0.40, 0.60),
    DRAIN: Gate(0.50, 0.75),
    DRAIN_BY_TWO: Gate(0.40, 0.60),
    IDLE_P50: Gate(4, 2.2, absolute=True, most=True),
    IDLE_P99: Gate(8, 5, absolute=True, most=True),
    drain_beside(1_000_000): Gate(0.80, 0.95),
    HELD: Gate(5.0, 2.0, most=True),
    RECOVERED: Gate(1.5, 1.2, most=True),
}
# Of the HTTP API, on any store: by how the names of its figures begin.
_WEB: Final = {
    "page ": Gate(500, 200, absolute=True, most=True),
    "list ": Gate(300, 100, absolute=True, most=True),
    "scan ": Gate(2_000, 2_000, absolute=True, most=True),
    "open tab ": Gate(2, 1.5, absolute=True, most=True),
    READS_P99: Gate(READS_MOST, 25, absolute=True, most=True),
    READS_BACKLOG: Gate(1_000, 500, absolute=True, most=True),
}
GATES: Final[Mapping[str, Mapping[str, Gate]]] = {
    "memory": _MEMORY,
    "sqlite": _SQLITE,
    "file": _FILE,
    "s3": _S3,
    "sqs": _SQS,
    "postgresql": _POSTGRESQL,
}


def gate_for(backend: str, workload: str) -> Gate | None:
    """The bound of a figure, on whatever file system it was taken (`ext4: push, jobs/s`)."""
    for start, gate in _WEB.items():
        if workload.startswith(start):
            return gate
    return GATES.get(backend, {}).get(workload.rpartition(": ")[2])
