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
TWO_TO_ONE: Final = "drain, 2 workers to 1, jobs/s"
IDLE_P50: Final = "idle push to start, p50, ms"
IDLE_P99: Final = "idle push to start, p99, ms"


def backlog(waiting: int) -> str:
    """The name of the poll beside a backlog of this size."""
    return f"poll of 10 at {waiting:,} waiting to 1,000, ms"


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
GATES: Final[Mapping[str, Mapping[str, Gate]]] = {"sqlite": _SQLITE, "memory": _MEMORY}
