"""What a batch of jobs came to, heard from the events of its worker."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from ferryman.tasks.passage import is_errand

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.events import Event, Events

_WELL: Final = "job.completed"
_BADLY: Final = ("job.failed", "job.retried", "job.lost")
_NEITHER: Final = ("job.returned", "job.cancelled", "job.paused")


class Score:
    """Counts ends: `processed` = `succeeded` + `failed` + what was given back or cancelled."""

    def __init__(self, events: Events, worker: str) -> None:
        self.counts = {"processed": 0, "succeeded": 0, "failed": 0}
        self._events = events
        self._worker = worker

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Listen while the batch runs."""
        names = (_WELL, *_BADLY, *_NEITHER)
        stops = [self._events.subscribe(name, self._count) for name in names]
        try:
            yield
        finally:
            for stop in stops:
                stop()

    def _count(self, event: Event) -> None:
        # Ends are settled, and told, by one thread at a time.
        if event["worker"] != self._worker or is_errand(event["job"].task):
            return
        self.counts["processed"] += 1
        if event.name == _WELL:
            self.counts["succeeded"] += 1
        elif event.name in _BADLY:
            self.counts["failed"] += 1
