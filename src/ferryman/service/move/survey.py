"""Which jobs of a store a filter selects, before anything is done with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ferryman.job import State

if TYPE_CHECKING:
    from ferryman.filter import Filter
    from ferryman.queue.contract import Backend

PAGE: Final = 1_000


@dataclass(slots=True)
class Survey:
    """Ids in push order, because the store that takes the jobs keeps the order they come in."""

    ids: list[str] = field(default_factory=list)
    running: list[str] = field(default_factory=list)
    queues: dict[str, str] = field(default_factory=dict)
    """The queue of each job, by id."""

    @classmethod
    def of(cls, store: Backend, where: Filter) -> Survey:
        """Every job that matches now; only ids are kept, a backlog may be larger than memory."""
        found, after = cls(), None
        names: dict[str, str] = {}
        while True:
            page = store.list(where, limit=PAGE, after=after)
            for job in page.jobs:
                found.ids.append(job.id)
                found.queues[job.id] = names.setdefault(job.queue, job.queue)
                if job.state is State.PROCESSING:
                    found.running.append(job.id)
            if page.next is None:
                found.ids.reverse()
                return found
            after = page.next
