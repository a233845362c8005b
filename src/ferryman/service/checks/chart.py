"""What one examination knows before its checks begin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ferryman.service.insights import Insights

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ferryman.queue.contract import Backend
    from ferryman.service.insights import Overview
    from ferryman.service.workers import WorkerRow

_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class Chart:
    """A store with its counts and workers at one moment. `deep` allows checks that take long."""

    backend: Backend
    seen: Overview
    deep: bool = False

    @property
    def insights(self) -> Insights:
        return Insights(self.backend)

    @property
    def alive(self) -> Sequence[WorkerRow]:
        """Workers that showed themselves lately."""
        return [row for row in self.seen.workers or () if not row.stale]


def counted(number: int, what: str) -> str:
    """`1 job`, `2 jobs`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def named(names: Collection[str]) -> str:
    """The first few names and how many more there are."""
    ordered = sorted(names)
    rest = f" and {len(ordered) - _NAMED} more" if len(ordered) > _NAMED else ""
    return ", ".join(repr(name) for name in ordered[:_NAMED]) + rest


def span(seconds: float) -> str:
    """A duration to one figure: 5 s, 3 min, 2 h, 4 days."""
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
