"""Finds jobs within a budget of time: a filter that no store has an index for must end too."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ferryman.errors import InvalidFilter
from ferryman.filter import AGES, NUMBERS, Filter, as_text, dig
from ferryman.job import TERMINAL, State
from ferryman.queue.counting import Counting
from ferryman.service.redaction import hides, redacted, redacted_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ferryman.filter import Term
    from ferryman.job import Job
    from ferryman.queue.answers import Page
    from ferryman.queue.contract import Backend

BUDGET: Final = 1.8
"""Seconds after which no further part of the store is looked at."""
COUNT_BUDGET: Final = 0.2
"""The same for counts: they stand beside lists, and people wait for both."""
MOST_COUNTED: Final = 10_000
"""Jobs of a state after which a count says that there are more."""
LOOK: Final = 500
"""Jobs that are looked at in one go."""

# A store would test these on every job of a scan that cannot be broken off.
_DOCUMENTS: Final = frozenset({"payload", "error", "text"})
_UNINDEXED: Final = _DOCUMENTS | {"worker", "tenant"} | NUMBERS | AGES
_BAD: Final = TERMINAL - {State.COMPLETED}


@dataclass(frozen=True, slots=True)
class Found:
    """Jobs that match, newest push first; `next` goes on after them, None at the end.

    `scanned` jobs were looked at one by one, None where the store found them by itself. Not
    `complete`: the time was up, and there may be more matches before `next`'s end.
    """

    jobs: Sequence[Job]
    next: str | None
    scanned: int | None = None
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Counted:
    """Jobs by state; `more` where not all were counted: the time was up, or they are many."""

    states: Mapping[State, int]
    more: bool = False


class Search:
    """Looks through one store, newest push first.

    What is hidden of a job cannot be found: else a filter would tell it letter by letter.
    """

    def __init__(self, backend: Backend, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._backend = backend
        self._monotonic = monotonic

    def find(self, where: Filter, *, limit: int, after: str | None = None) -> Found:
        """At most `limit` jobs; what the store cannot look up is tested here, job by job.

        There are more if the first page's jobs all left while it was looked at: then no place is
        known from which to go on.
        """
        rough = _rough(where)
        if rough == where:
            page = self._backend.list(where, limit=limit, after=after)
            return Found(page.jobs, page.next)
        found: list[Job] = []
        scanned = 0
        for start, page, timely in self._pages(rough, after, BUDGET):
            now = self._backend.clock.now()
            for place, job in enumerate(page.jobs, 1):
                if _matches(where, job, now):
                    found.append(job)
                    if len(found) == limit:
                        known, cursor = self._cursor(rough, start, page, place)
                        if known:
                            return Found(found, cursor, scanned + place)
            scanned += len(page.jobs)
            if len(found) >= limit:
                return Found(found, page.next, scanned)
            if not timely:
                return Found(found, page.next, scanned, complete=page.next is None)
        return Found(found, None, scanned)

    def walk(
        self, where: Filter, budget: float = BUDGET, look: int = LOOK
    ) -> Iterator[tuple[Sequence[Job], bool]]:
        """All matches in parts of `look`, each with whether the time allows another one."""
        for _, page, timely in self._pages(where, None, budget, look):
            yield page.jobs, timely or page.next is None

    def count(self, where: Filter, *, patient: bool = False) -> Counted:
        """How many jobs match, by state; `patient` counts further before it says `more`."""
        if isinstance(self._backend, Counting):
            most = 10 * MOST_COUNTED if patient else MOST_COUNTED
            counted = self._backend.count(where, most)
            if counted is not None:
                return Counted(counted, more=most in counted.values())
        states: dict[State, int] = {}
        rough = _rough(where)
        for jobs, timely in self.walk(rough, BUDGET if patient else COUNT_BUDGET):
            now = self._backend.clock.now()
            for job in jobs:
                if rough == where or _matches(where, job, now):
                    states[job.state] = states.get(job.state, 0) + 1
            if not timely:
                return Counted(states, more=True)
        return Counted(states)

    def _pages(
        self, where: Filter, after: str | None, budget: float, look: int | None = None
    ) -> Iterator[tuple[str | None, Page, bool]]:
        """Pages with where they begin, until the end or the end of the time."""
        deadline = self._monotonic() + budget
        while True:
            page = self._backend.list(where, limit=look or LOOK, after=after)
            timely = self._monotonic() < deadline
            yield after, page, timely
            if page.next is None or not timely:
                return
            after = page.next

    def _cursor(
        self, where: Filter, start: str | None, page: Page, place: int
    ) -> tuple[bool, str | None]:
        """Whether it is known what goes on after the first `place` jobs of a page, and that.

        Jobs may have gone meanwhile: it never leads past one that was not looked at.
        """
        if place == len(page.jobs):
            return True, page.next
        seen = {job.id for job in page.jobs[:place]}
        for number in range(place, 0, -1):
            again = self._backend.list(where, limit=number, after=start)
            if not again.jobs or again.jobs[-1].id in seen:
                return True, again.next
        return start is not None, start


def scans(where: Filter) -> bool:
    """Whether jobs have to be tested one by one, which may take `BUDGET`."""
    return _rough(where) != where


def check_searchable(where: Filter) -> None:
    """Refuse to look for what is hidden from everybody; meta is found by the store's indexes."""
    for term in where.terms:
        name = ".".join((term.field, *term.path))
        if hides(term.path):
            raise InvalidFilter(f"the values of {name} are hidden, so nobody can search for them")
        if term.field == "meta" and any(redacted_text(str(v)) != v for v in term.values):
            raise InvalidFilter(f"such a value of {name} is hidden, so nobody can search for it")


def _matches(where: Filter, job: Job, now: float) -> bool:
    return all(_holds(term, job, now) for term in where.terms)


def _holds(term: Term, job: Job, now: float) -> bool:
    found = term.holds(job, now) is not term.negated
    # What is not in the whole is not in the part that is shown: most jobs are looked at once.
    if found and term.field == "payload":
        found = as_text(dig(redacted(job.payload), term.path)) in term.values
    elif found and term.field in ("error", "text") and job.error is not None:
        shown = replace(job, error=redacted_text(job.error))
        found = term.holds(shown, now) is not term.negated
    return found is not term.negated


def _rough(where: Filter) -> Filter:
    """What of a filter a store finds by its indexes; the rest is tested job by job."""
    if where.by_key:
        return Filter(tuple(term for term in where.terms if term.field not in _DOCUMENTS))
    if _ended_badly(where):
        return where
    return Filter(tuple(term for term in where.terms if term.field not in _UNINDEXED))


def _ended_badly(where: Filter) -> bool:
    """Whether it is about what failed or was cancelled since some time: stores find that by time.

    Not with further conditions: a store would test them on every such job.
    """
    if sorted(term.field for term in where.terms) != ["finished", "state"]:
        return False
    return all(
        not term.negated
        and (term.op in ("<", "<=") if term.field == "finished" else _BAD.issuperset(term.values))
        for term in where.terms
    )
