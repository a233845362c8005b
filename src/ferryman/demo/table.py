"""The demo's closing table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.demo.crossing import STEPS, Report

if TYPE_CHECKING:
    from collections.abc import Iterator


def table(report: Report) -> str:
    """What happened, step by step, and the verdict."""
    return "\n".join(_lines(report))


def _lines(report: Report) -> Iterator[str]:
    yield f"{'step':<8} {'pushed':>7} {'completed':>10} {'attempts':>9} {'most':>5}"
    for step in STEPS:
        attempts = [job.attempts for job in report.of(step)]
        yield (
            f"{step:<8} {len(attempts):>7} {report.completed(step):>10}"
            f" {sum(attempts):>9} {max(attempts, default=0):>5}"
        )
    yield ""
    twice = sum(count > 1 for count in report.book.values())
    yield f"retried after an error        {report.retried:>4}"
    yield f"held by the killed worker     {report.held_at_kill:>4}"
    yield f"recovered from it             {report.recovered:>4}"
    yield f"crates in the quay's book     {len(report.book):>4} of {report.crates}"
    yield f"written there more than once  {twice:>4}   (at least once is the promise)"
    yield f"lost                          {report.lost:>4}"
    yield ""
    verdict = "nothing was lost" if report.lost == 0 else "JOBS WERE LOST"
    yield f"{verdict}, {report.seconds:.1f} s"
