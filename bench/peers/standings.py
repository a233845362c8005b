"""All entrants on the same work, one right after the other, as often as asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from bench.table import figure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from bench.peers.entrant import Entrant

WORKS: Final[dict[str, int]] = {
    "push": 2_000,
    "push_many": 20_000,
    "drain1": 20_000,
    "drain2": 20_000,
    "idle": 50,
}
COLUMNS: Final[dict[str, tuple[str, int]]] = {
    "push, jobs/s": ("push", 0),
    "push_many, jobs/s": ("push_many", 0),
    "drain by 1, jobs/s": ("drain1", 0),
    "drain by 2, jobs/s": ("drain2", 0),
    "idle p50, ms": ("idle", 0),
    "idle p99, ms": ("idle", 1),
}


@dataclass(slots=True)
class Standing:
    """What one entrant reached, and how that compares with the raw loop of the same run."""

    name: str
    version: str
    runs: dict[str, list[list[float | None]]] = field(default_factory=dict)
    raw: dict[str, list[list[float | None]]] = field(default_factory=dict)

    def figure(self, column: str) -> float | None:
        values = [run for run in self._values(self.runs, column) if run is not None]
        return median(values) if values else None

    def ratio(self, column: str) -> float | None:
        pairs = zip(self._values(self.runs, column), self._values(self.raw, column), strict=True)
        ratios = [ours / raw for ours, raw in pairs if ours is not None and raw]
        return median(ratios) if ratios else None

    def row(self) -> dict[str, Any]:
        """For the JSON file."""
        return {
            "peer": self.name,
            "version": self.version,
            "figures": {column: self.figure(column) for column in COLUMNS},
            "ratios": {column: self.ratio(column) for column in COLUMNS},
        }

    @staticmethod
    def _values(runs: dict[str, list[list[float | None]]], column: str) -> list[float | None]:
        work, index = COLUMNS[column]
        return [run[index] for run in runs[work]]


def play(
    entrants: Sequence[Entrant],
    home: Path,
    *,
    runs: int,
    jobs: int | None,
    say: Callable[[str], None],
) -> list[Standing]:
    """The first entrant is the raw loop that the others are compared with."""
    standings = [Standing(entrant.name, entrant.version()) for entrant in entrants]
    for work, usual in WORKS.items():
        for run in range(runs):
            for entrant, standing in zip(entrants, standings, strict=True):
                figures = entrant.measure(work, jobs or usual, home)
                standing.runs.setdefault(work, []).append(figures)
                standing.raw.setdefault(work, []).append(standings[0].runs[work][run])
                say(f"{work}, run {run + 1}: {entrant.name} {_spoken(figures)}")
    return standings


def table(standings: Sequence[Standing]) -> str:
    """Figures, in brackets the ratio to the raw loop."""
    rows = [["", *COLUMNS]]
    for standing in standings:
        name = f"{standing.name} {standing.version}".strip()
        rows.append([name, *(_cell(standing, column) for column in COLUMNS)])
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    )


def _cell(standing: Standing, column: str) -> str:
    ratio = standing.ratio(column)
    if ratio is None:
        return "-"
    return f"{figure(standing.figure(column))} ({ratio:.2f})"


def _spoken(figures: Sequence[float | None]) -> str:
    return " ".join(figure(one) or "-" for one in figures)
