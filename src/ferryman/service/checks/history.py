"""What has ended: how much of it badly, and how long it is kept."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from ferryman.job import TERMINAL
from ferryman.queue.diagnosis import Finding
from ferryman.service.checks.chart import counted
from ferryman.service.insights import MAX_PAGE
from ferryman.service.redaction import redacted_text
from ferryman.telemetry.escape import one_line

if TYPE_CHECKING:
    from ferryman.job import Job
    from ferryman.service.checks.chart import Chart

LATELY: Final = "finished:<1d"
# Workers keep seven days unless told otherwise, and prune every ten minutes.
KEPT_DAYS: Final = 7
MANY: Final = 200_000

_SHOWN: Final = 100


def failures(chart: Chart) -> Finding | None:
    """Jobs that failed within a day, with the most frequent reason."""
    if not chart.backend.capabilities.browse:
        return None
    page = chart.insights.jobs(f"state:failed {LATELY}", limit=MAX_PAGE)
    if not page.jobs:
        return Finding.ok("failures", "none in the last 24 h")
    count = counted(len(page.jobs), "job") if page.next is None else f"over {MAX_PAGE:,} jobs"
    ((reason, times),) = Counter(map(_reason, page.jobs)).most_common(1)
    return Finding.warning(
        "failures",
        f"{count} failed in the last 24 h; {times} of them: {reason}",
        f"ferryman jobs list state:failed '{LATELY}'; once the cause is gone, "
        f"ferryman jobs retry --where 'state:failed {LATELY}'",
    )


def age(chart: Chart) -> Finding | None:
    """Finished jobs older than workers keep them: nobody prunes, or a setting says so."""
    if not chart.backend.capabilities.browse:
        return None
    finished = sum(chart.seen.totals[state] for state in TERMINAL)
    count = counted(finished, "finished job")
    if finished > MANY and not chart.deep:
        return Finding.ok("history", f"{count}; --deep looks at their age")
    if not chart.insights.jobs(f"finished:>{KEPT_DAYS + 1}d", limit=1).jobs:
        return Finding.ok("history", f"{count}, none over {KEPT_DAYS + 1} days old")
    return Finding.warning(
        "history",
        f"{count}, and some ended over {KEPT_DAYS + 1} days ago: nobody prunes",
        f"ferryman prune --older-than {KEPT_DAYS}d, or let a worker run: each one prunes",
    )


def _reason(job: Job) -> str:
    lines = redacted_text(job.error or "").strip().splitlines()
    return f"{job.task!r}: {one_line(lines[0] if lines else 'no reason was recorded', _SHOWN)}"
