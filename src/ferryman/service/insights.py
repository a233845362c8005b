"""Reads: what the command line, the API and the dashboard ask about a store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ferryman.errors import InvalidFilter, JobNotFound, NameNotFound, Unsupported
from ferryman.filter import Filter, Line, Term
from ferryman.flow.breakers import BREAKER_CELLS
from ferryman.flow.permits import PERMIT_CELLS
from ferryman.flow.rates import RATE_CELLS
from ferryman.flow.timetable import Timetable
from ferryman.job import State
from ferryman.queue.diagnosis import Quarantining
from ferryman.service.history import MOST_HOURS, history
from ferryman.service.limits import BreakerRow, PermitRow, RateRow
from ferryman.service.look import Look
from ferryman.service.search import Counted, Search, check_searchable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from ferryman.flow.timetable import Entry
    from ferryman.job import Job
    from ferryman.queue.answers import Cell, Page, QueueCounts
    from ferryman.queue.contract import Backend
    from ferryman.queue.diagnosis import Trouble
    from ferryman.service.history import Bucket
    from ferryman.service.search import Found
    from ferryman.service.workers import WorkerRow

MAX_PAGE: Final = 1_000


class QueueNotFound(NameNotFound):
    """No queue of this name holds jobs or is paused."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        problem = f"no queue {name!r} in this store"
        super().__init__(problem, name, known, "`ferryman queues list` shows them all")


@dataclass(frozen=True, slots=True)
class Overview:
    """A store at one moment. `workers` is None where the backend keeps no rows about them."""

    at: float
    backend: str
    queues: Sequence[QueueCounts]
    workers: Sequence[WorkerRow] | None
    troubles: Sequence[Trouble] = ()

    @property
    def totals(self) -> Mapping[State, int]:
        """Jobs by state over all queues."""
        return {state: sum(q.states.get(state, 0) for q in self.queues) for state in State}

    @property
    def scheduled(self) -> int:
        """Pending jobs that are not due yet."""
        return sum(queue.scheduled for queue in self.queues)


class Insights:
    """Questions to one store; nothing here changes it.

    `only` confines them to some queues. `look` is one that is shared with others.
    """

    def __init__(
        self, backend: Backend, only: Collection[str] | None = None, look: Look | None = None
    ) -> None:
        self._backend = backend
        self._look = Look(backend) if look is None else look
        self._only = None if only is None else frozenset(only)

    def overview(self) -> Overview:
        """Counts of every queue, and the workers."""
        snapshot = self._look.snapshot()
        capabilities = self._backend.capabilities
        troubles = self._backend.troubles() if isinstance(self._backend, Quarantining) else ()
        return Overview(
            at=snapshot.at,
            backend=capabilities.backend,
            queues=self._sorted(snapshot.queues),
            workers=self.workers() if capabilities.cells else None,
            troubles=[one for one in troubles if self._may_see(one.queue)],
        )

    def queues(self) -> Sequence[QueueCounts]:
        """Counts of every queue that has jobs or is paused, by name."""
        return self._sorted(self._look.snapshot().queues)

    def queue(self, name: str) -> QueueCounts:
        """Counts of one queue; `QueueNotFound` if it has no jobs and is not paused."""
        found = {counts.queue: counts for counts in self.queues()}
        if name not in found:
            raise QueueNotFound(name, list(found))
        return found[name]

    def tasks(self, queue: str) -> Sequence[str]:
        """The tasks of a queue's newest jobs, by name; none where jobs cannot be looked at."""
        if not self._backend.capabilities.browse:
            return []
        newest = self._backend.list(Filter((Term("queue", "is", (queue,)),)), limit=100).jobs
        return sorted({job.task for job in newest})

    def waiting(self, queue: str) -> Sequence[Job]:
        """The newest pending jobs of a queue; none where jobs cannot be looked at."""
        if not self._backend.capabilities.browse:
            return []
        terms = Term("queue", "is", (queue,)), Term("state", "is", (State.PENDING,))
        return self._backend.list(Filter(terms), limit=100).jobs

    def depth(self, queue: str) -> int:
        """How many jobs of a queue are pending; told to all, whose queues may lead there."""
        counts = self._look.snapshot().queues.get(queue)
        return 0 if counts is None else counts.states.get(State.PENDING, 0)

    def job(self, job_id: str) -> Job:
        """The whole job with errors and logs; `JobNotFound` if there is none."""
        job = self._backend.get(job_id)
        if job is None or not self._may_see(job.queue):
            raise JobNotFound(job_id)
        return job

    def search(self, where: str = "", *, limit: int = 50, after: str | None = None) -> Found:
        """`jobs` within a budget of time, for those who cannot wait for any filter."""
        check_page(limit)
        parsed = self.filter(where)
        check_searchable(parsed)
        return Search(self._backend).find(parsed, limit=limit, after=after)

    def counts(self, where: str = "", *, patient: bool = False) -> Counted:
        """Jobs that match by state: exact by queue and state, else within a budget.

        `patient` is for those who wait for it: it counts further.
        """
        parsed = self.filter(where)
        check_searchable(parsed)
        if any(term.field not in ("queue", "state") for term in parsed.terms):
            return Search(self._backend).count(parsed, patient=patient)
        states = dict.fromkeys(State, 0)
        seen = self._look.renew() if patient else self._look.snapshot()
        for counts in self._sorted(seen.queues):
            for state, n in counts.states.items():
                states[state] += n if Line(counts.queue, "", state).matches(parsed) else 0
        return Counted(states)

    def filter(self, where: str) -> Filter:
        """The filter text, confined to what may be seen here."""
        terms = Filter.parse(where).terms
        if self._only is None:
            return Filter(terms)
        return Filter((*terms, Term("queue", "is", tuple(sorted(self._only)))))

    def jobs(self, where: str = "", *, limit: int = 50, after: str | None = None) -> Page:
        """Jobs that match the filter text, newest push first; `after` is a page's `next`."""
        check_page(limit)
        return self._backend.list(self.filter(where), limit=limit, after=after)

    def walk(self, where: str) -> Iterator[Sequence[Job]]:
        """Every job that matches, page by page. Jobs pushed meanwhile are not visited."""
        parsed, after = self.filter(where), None
        while True:
            page = self._backend.list(parsed, limit=MAX_PAGE, after=after)
            if page.jobs:
                yield page.jobs
            if page.next is None:
                return
            after = page.next

    def workers(self) -> Sequence[WorkerRow]:
        """The workers that showed themselves lately, stale ones marked, by id."""
        capabilities = self._backend.capabilities
        if not capabilities.cells:
            raise Unsupported(
                f"{capabilities.backend} keeps no rows about workers: look at their own logs"
            )
        rows = self._look.workers()
        return [row for row in rows if self._only is None or self._only & row.queues.keys()]

    @property
    def knows_workers(self) -> bool:
        """Whether the store keeps rows about workers and what limits them."""
        return self._backend.capabilities.cells

    def breakers(self) -> Sequence[BreakerRow]:
        """The breakers that have seen a failure, by name."""
        now = self.now()
        return [BreakerRow.read(cell, now) for cell in self._cells(BREAKER_CELLS)]

    def rates(self) -> Sequence[RateRow]:
        """The quotas of every rate that was used, by name."""
        now = self.now()
        return [row for cell in self._cells(RATE_CELLS) for row in RateRow.read(cell, now)]

    def permits(self) -> Sequence[PermitRow]:
        """The live leases under each concurrency limit that was used, by name."""
        now = self.now()
        return [PermitRow.read(cell, now) for cell in self._cells(PERMIT_CELLS)]

    def _cells(self, prefix: str) -> Sequence[Cell]:
        capabilities = self._backend.capabilities
        if not capabilities.cells:
            raise Unsupported(
                f"{capabilities.backend} has no cells: its breakers, if local, are seen in the "
                "logs of their workers"
            )
        return self._backend.read_cells(prefix)

    def history(self, queue: str | None = None, hours: int = MOST_HOURS) -> Sequence[Bucket]:
        """What workers have ended over the last `hours`, of one queue or of all."""
        if queue is not None and not self._may_see(queue):
            raise QueueNotFound(queue, sorted(self._only or ()))
        return history(self._backend, self._only if queue is None else {queue}, hours)

    def schedules(self) -> Sequence[Entry]:
        """The schedules that workers have declared, by name."""
        return Timetable(self._backend).entries()

    def now(self) -> float:
        """The store's time."""
        return self._backend.clock.now()

    def _may_see(self, queue: str) -> bool:
        return self._only is None or queue in self._only

    def _sorted(self, queues: Mapping[str, QueueCounts]) -> Sequence[QueueCounts]:
        return [queues[name] for name in sorted(queues) if self._may_see(name)]


def check_page(limit: int) -> None:
    """Refuse pages of no or of too many rows."""
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidFilter(f"limit: must be from 1 to {MAX_PAGE:,}, got {limit}")
