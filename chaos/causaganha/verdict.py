"""What a rough passage must not have done, counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chaos.causaganha.passage import PERIOD, QUOTA, WAY, Terms, passage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from chaos.causaganha.passage import Passage


@dataclass(frozen=True, slots=True)
class Verdict:
    """A rough passage beside a calm one of the same editions."""

    terms: Terms
    rough: Passage
    calm: Passage

    @property
    def broken(self) -> dict[str, int]:
        """Each must be 0."""
        rough, calm = self.rough, self.calm
        spent = len(rough.calls) - rough.chunks - rough.failed_answers
        return {
            "unfinished": len(calm.rows.finished - rough.rows.finished),
            "wrong_rows": len(rough.rows.wrong(calm.rows)),
            "wrong_uploads": len(self._wrong_uploads()),
            "calls_over": max(0, spent - rough.kills, -spent),
            # Only a machine that stalls for longer than a call may be on its way excuses it.
            "over_quota": sum(
                each < PERIOD + WAY - max(WAY, rough.stall)
                for each in spans(rough.calls, QUOTA + 1)
            ),
            "other_ranking": int(rough.ranking != calm.ranking),
        }

    @property
    def clean(self) -> bool:
        return not any(self.broken.values())

    def row(self) -> dict[str, Any]:
        """The line for `results.json`."""
        rough = self.rough
        return {
            "backend": self.terms.backend,
            "editions": self.terms.editions,
            "kills": rough.kills,
            "chunks": rough.chunks,
            "failed_answers": rough.failed_answers,
            "calls": len(rough.calls),
            "tightest": round(min(spans(rough.calls, QUOTA + 1), default=0.0), 2),
            "stall": round(rough.stall, 2),
            **self.broken,
            "seed": self.terms.seed,
        }

    def findings(self) -> Iterator[str]:
        """What is wrong, by edition."""
        yield from sorted(self.calm.rows.finished - self.rough.rows.finished)
        yield from self.rough.rows.wrong(self.calm.rows)
        yield from self._wrong_uploads()

    def _wrong_uploads(self) -> list[str]:
        uploads = self.rough.uploads
        return [
            f"{uploads.get(each, 0)} uploads of {each}"
            for each in uploads.keys() | self.rough.expected_uploads
            if uploads.get(each) != 1 or each not in self.rough.expected_uploads
        ]


def judged(terms: Terms, folder: Path, tell: Callable[[str], None] = lambda _: None) -> Verdict:
    """A rough passage beside one of a single worker, in the court's order, when all goes well."""
    calm = passage(Terms(backend="sqlite", editions=terms.editions, workers=1), folder / "calm")
    return Verdict(terms, passage(terms, folder / "rough", tell), calm)


def spans(moments: Sequence[float], count: int) -> list[float]:
    """The seconds in which each so many calls in a row came; the moments are in order."""
    return [last - first for first, last in zip(moments, moments[count - 1 :], strict=False)]
