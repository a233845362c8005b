"""Runs whose history has to stay, because what their jobs returned is still to be collected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ferryman.filter import Filter, Term
from ferryman.message import RUN

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend

COLLECTS: Final = "collects"
YES: Final = "yes"
"""In the `meta` of a stage's job that collects, and of the barrier before it."""
PIPELINE_CELLS: Final = "pipeline/"
"""Where the pipelines that have had runs in a store are known."""
MARGIN: Final = 3_600.0
"""Seconds: files write the end of a run's first job a moment before its barriers."""
PAGE: Final = 1_000


def spared(backend: Backend, older_than: float) -> frozenset[str]:
    """The runs of which nothing may be pruned by this age.

    Those that collect, have history that old, and of which something that collects has not ended,
    or not so long ago: it may be retried. Nothing of them has ended before their barriers were
    there, but for the first job.
    """
    capabilities = backend.capabilities
    if not (capabilities.cells and capabilities.exact_counts):
        return frozenset()  # no run collects here
    if not backend.read_cells(PIPELINE_CELLS):
        return frozenset()
    where = Filter(
        (
            Term("meta", "is", (YES,), path=(COLLECTS,)),
            Term("age", ">", (older_than - MARGIN,)),
            Term("finished", ">", (older_than,), negated=True),
        )
    )
    runs: set[str] = set()
    after: str | None = None
    while True:
        page = backend.list(where, limit=PAGE, after=after)
        runs.update(job.meta[RUN] for job in page.jobs if RUN in job.meta)
        if page.next is None:
            return frozenset(runs)
        after = page.next
