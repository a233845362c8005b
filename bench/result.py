"""One line of the outcome: our figure, what it is compared with, and whether that is enough."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING

from bench.gates import gate_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Pair:
    """One run of one workload: our figure beside the one it is compared with."""

    workload: str
    ours: float
    raw: float | None

    @property
    def ratio(self) -> float | None:
        return self.ours / self.raw if self.raw else None


@dataclass(frozen=True, slots=True)
class Result:
    """Medians over the runs. `ratio` is the median of the runs' own ratios.

    `met` speaks of the gate; a figure without one is met.
    """

    backend: str
    workload: str
    ours: float
    raw: float | None
    ratio: float | None
    gate: float | None
    goal: float | None
    met: bool

    @classmethod
    def of(cls, backend: str, runs: Sequence[Pair]) -> Result:
        """The outcome of all runs of one workload."""
        workload = runs[0].workload
        ours = median(run.ours for run in runs)
        raws = [run.raw for run in runs if run.raw is not None]
        ratios = [run.ratio for run in runs if run.ratio is not None]
        ratio = median(ratios) if ratios else None
        bound = gate_for(backend, workload)
        return cls(
            backend,
            workload,
            _rounded(ours),
            _rounded(median(raws)) if raws else None,
            None if ratio is None else _rounded(ratio),
            None if bound is None else bound.gate,
            None if bound is None else bound.goal,
            bound is None or bound.met(ours, ratio, bound.gate),
        )

    @property
    def verdict(self) -> str:
        """In a word: goal, gate, missed, or nothing to reach."""
        bound = gate_for(self.backend, self.workload)
        if bound is None:
            return ""
        if not self.met:
            return "MISSED"
        return "goal" if bound.met(self.ours, self.ratio, bound.goal) else "gate"


def as_json(results: Iterable[Result]) -> str:
    return json.dumps([asdict(result) for result in results], indent=2) + "\n"


def read(path: Path) -> list[Result]:
    return [Result(**row) for row in json.loads(path.read_text())]


def merged(known: Iterable[Result], new: Sequence[Result]) -> list[Result]:
    """The new rows in the places of those that they replace, what has none at the end."""
    fresh = {(row.backend, row.workload): row for row in new}
    rows = [fresh.pop((row.backend, row.workload), row) for row in known]
    return [*rows, *fresh.values()]


def _rounded(number: float) -> float:
    """Four significant digits: more would be noise."""
    return float(f"{number:.4g}")
