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
    return GATES.get(backend, {}).get(workload.rpartition(": ")[2])
