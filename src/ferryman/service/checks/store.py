"""Does the store take what it is given, and does it know what time it is?"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from ferryman.ids import new_id
from ferryman.queue.diagnosis import Finding
from ferryman.service.checks.chart import span

if TYPE_CHECKING:
    from ferryman.service.checks.chart import Chart

SKEW: Final = 2.0
LARGE_SKEW: Final = 60.0

_PROBE_TTL: Final = 60.0


def round_trip(chart: Chart) -> Finding | None:
    """Write a cell, read it back, delete it."""
    backend = chart.backend
    if not backend.capabilities.cells:
        return None
    key, value = f"doctor/{new_id()}", new_id()
    started = time.perf_counter()
    written = backend.write_cell(key, value, expect=0, ttl=_PROBE_TTL)
    read = [cell.value for cell in backend.read_cells(key)]
    version = None if written is None else written.version
    deleted = backend.write_cell(key, None, expect=version)
    millis = (time.perf_counter() - started) * 1e3
    if written is not None and read == [value] and deleted is not None:
        return Finding.ok("round trip", f"write, read and delete took {millis:.1f} ms")
    return Finding.problem(
        "round trip",
        "the store accepted a value but did not give it back",
        "do not use this store before you know why: it may lose jobs in the same way",
    )


def clock(chart: Chart) -> Finding:
    """Compare the store's clock with this machine's, and with the newest job's."""
    backend = chart.backend
    skew = backend.clock.now() - time.time()
    if abs(skew) > SKEW:
        judged = Finding.problem if abs(skew) > LARGE_SKEW else Finding.warning
        return judged(
            "clock",
            f"the store's clock is {span(abs(skew))} {'ahead of' if skew > 0 else 'behind'} this "
            "machine's: what is due at a given moment runs that much off",
            "set both clocks by NTP",
        )
    ahead = _newest_push(chart) - backend.clock.now()
    if ahead > SKEW:
        return Finding.problem(
            "clock",
            f"the newest job was pushed {span(ahead)} in the future: the store's clock was set "
            "back, and jobs pushed before that wait until it has caught up",
            "set the clock by NTP; if it is right now, cancel and retry the jobs that wait",
        )
    return Finding.ok("clock", "the store's and this machine's agree")


def _newest_push(chart: Chart) -> float:
    if not chart.backend.capabilities.browse:
        return 0.0
    return max((job.created_at for job in chart.insights.jobs(limit=1).jobs), default=0.0)
