"""Results as aligned plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.result import Result

HEADER: Final = ("backend", "workload", "ours", "raw", "ratio", "gate", "goal", "reached")
_WIDTHS: Final = (7, 50, 10, 10, 7, 8, 8, 7)


def table(results: Sequence[Result]) -> str:
    """All of it, and the misses once more by name."""
    lines = [_aligned(HEADER), *(line(result) for result in results)]
    missed = [f"{result.backend}: {result.workload}" for result in results if not result.met]
    if missed:
        lines += ["", f"gates missed: {len(missed)}", *(f"  {name}" for name in missed)]
    return "\n".join(lines)


def line(result: Result) -> str:
    return _aligned(cells(result))


def cells(result: Result) -> Sequence[str]:
    """One result as text, in the order of `HEADER`."""
    return (
        result.backend,
        result.workload,
        figure(result.ours),
        figure(result.raw),
        "" if result.ratio is None else f"{result.ratio:.2f}",
        "" if result.gate is None else f"{result.gate:,g}",
        "" if result.goal is None else f"{result.goal:,g}",
        result.verdict,
    )


def figure(number: float | None) -> str:
    if number is None:
        return ""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _aligned(texts: Sequence[str]) -> str:
    left = [f"{text:<{width}}" for text, width in zip(texts[:2], _WIDTHS[:2], strict=True)]
    right = [f"{text:>{width}}" for text, width in zip(texts[2:], _WIDTHS[2:], strict=True)]
    return " ".join([*left, *right]).rstrip()
