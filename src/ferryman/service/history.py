"""What workers have ended over the last day, from the cells in which they added it up."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ferryman.errors import InvalidFilter, Unsupported
from ferryman.worker.rollup import HISTORY_CELLS, KEPT, LOOKED, SPAN, STEP, Ended

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from ferryman.queue.answers import Cell
    from ferryman.queue.contract import Backend

MOST_HOURS: Final = int(KEPT // 3_600)


@dataclass(frozen=True, slots=True)
class Bucket:
    """`STEP` seconds from `at` on: what was ended in them, of one queue or of all."""

    at: int
    ended: Ended = field(default_factory=Ended)


def history(
    backend: Backend, queues: Collection[str] | None = None, hours: int = MOST_HOURS
) -> Sequence[Bucket]:
    """The buckets of the last `hours`, empty ones too, oldest first; the last one is under way.

    Of all queues, or of some added up. What operators cancel while it waits is not in them: no
    worker ended it.
    """
    if not 1 <= hours <= MOST_HOURS:
        raise InvalidFilter(f"hours: must be from 1 to {MOST_HOURS}, got {hours}")
    capabilities = backend.capabilities
    if not capabilities.cells:
        raise Unsupported(
            f"{capabilities.backend} has no cells in which workers could keep a history: "
            "let Prometheus scrape them"
        )
    now = int(backend.clock.now())
    first = now - now % STEP - hours * 3_600 + STEP
    buckets = {at: Bucket(at) for at in range(first, now + 1, STEP)}
    for cell in _cells(backend, first, now):
        for at, by_queue in _read(cell):
            for name, ended in by_queue.items():
                if at in buckets and (queues is None or name in queues or name == LOOKED):
                    buckets[at].ended.merge(ended)
    return list(buckets.values())


def _cells(backend: Backend, first: int, now: int) -> Iterator[Cell]:
    """The cells of these hours; one read for all of them where they are many."""
    spans = range(first - first % SPAN, now + 1, SPAN)
    prefixes = [HISTORY_CELLS] if len(spans) > 3 else [f"{HISTORY_CELLS}{s}/" for s in spans]
    for prefix in prefixes:
        yield from backend.read_cells(prefix)


def _read(cell: Cell) -> Iterator[tuple[int, Mapping[str, Ended]]]:
    """A cell of this or another version of Ferryman; what cannot be read is left out."""
    try:
        for at, queues in json.loads(cell.value).items():
            yield int(at), {name: Ended.from_json(facts) for name, facts in queues.items()}
    except (ValueError, TypeError, AttributeError):
        return
