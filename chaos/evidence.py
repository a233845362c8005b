"""What the processes wrote down and what the store holds when everyone is gone."""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from chaos.records import (
    Acted,
    Asked,
    Ended,
    Pushed,
    Reaped,
    Refused,
    Returned,
    Saved,
    Started,
    Tried,
)
from chaos.terms import STERN
from ferryman import Filter, Job, State
from ferryman.queue.open import open_backend
from ferryman.queue.syncing import Mirrored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from chaos.plan import Plan
    from chaos.records import Record
    from chaos.terms import Terms
    from ferryman.queue.contract import Backend

_PAGE = 5_000


@dataclass(frozen=True, slots=True)
class Holdings:
    """The store at the end: every job with its errors, and its counters beside a recount."""

    jobs: Mapping[str, Job]
    counted: Counter[tuple[str, str]] = field(default_factory=Counter)
    recounted: Counter[tuple[str, str]] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Evidence:
    """All records by kind, those about jobs by job id, beside the plan and the store's holdings.

    `cancels`: how often an operator ended each job at once. `troubles`: what went wrong outside the
    records, such as a process that ended by itself, or damage. `duplicates`: jobs of which the
    store itself keeps a second end. `buried`: those in a dead-letter queue, where there is one.
    """

    plan: Plan
    terms: Terms
    holdings: Holdings
    troubles: Sequence[str]
    duplicates: frozenset[str]
    buried: frozenset[str]
    tried: Sequence[Tried]
    pushed: Sequence[Pushed]
    refused: Sequence[Refused]
    asked: Sequence[Asked]
    acted: Sequence[Acted]
    cancels: Counter[str]
    started: Mapping[str, Sequence[Started]]
    returned: Mapping[str, Sequence[Returned]]
    ended: Mapping[str, Sequence[Ended]]
    reaped: Mapping[str, Sequence[Reaped]]
    saved: Mapping[str, Sequence[Saved]]

    @classmethod
    def of(
        cls,
        plan: Plan,
        records: Iterable[Record],
        holdings: Holdings,
        troubles: Sequence[str] = (),
        *,
        duplicates: Iterable[str] = (),
        buried: Iterable[str] = (),
        terms: Terms = STERN,
    ) -> Evidence:
        """Sort the records; starts come in the order of their fences."""
        found = list(records)
        starts = sorted(_kind(found, Started), key=lambda start: start.fence)
        return cls(
            plan,
            terms,
            holdings,
            troubles,
            frozenset(duplicates),
            frozenset(buried),
            tried=_kind(found, Tried),
            pushed=_kind(found, Pushed),
            refused=_kind(found, Refused),
            asked=_kind(found, Asked),
            acted=_kind(found, Acted),
            cancels=_cancels(found),
            started=_by_job(starts),
            returned=_by_job(_kind(found, Returned)),
            ended=_by_job(_kind(found, Ended)),
            reaped=_by_job(_kind(found, Reaped)),
            saved=_by_job(_kind(found, Saved)),
        )

    @property
    def jobs(self) -> Mapping[str, Job]:
        return self.holdings.jobs

    def courses(self, job_id: str) -> Iterable[Sequence[Started]]:
        """A job's starts in the order of their fences; relaxed nodes number each their own."""
        starts = self.started.get(job_id, ())
        if not self.terms.relaxed:
            return [starts]
        return _grouped(starts, lambda start: start.node).values()


def holdings(url: str) -> Holdings:
    """Read everything that a store holds; one that cannot be looked into has only counts."""
    with closing(open_backend(url)) as backend:
        if isinstance(backend, Mirrored):
            backend.sync()
        jobs = {job.id: job for job in _all(backend)} if backend.capabilities.browse else {}
        counted: Counter[tuple[str, str]] = Counter()
        for queue, counts in backend.snapshot().queues.items():
            counted.update({(queue, str(state)): n for state, n in counts.states.items()})
            counted[queue, "scheduled"] = counts.scheduled
        recounted = Counter((job.queue, str(job.state)) for job in jobs.values())
        now = backend.clock.now()
        for job in jobs.values():
            recounted[job.queue, "scheduled"] += job.state is State.PENDING and job.ready_at > now
    return Holdings(jobs, +counted, +recounted)


def disagreements(url: str, found: Holdings) -> Iterator[str]:
    """Jobs that a node shows otherwise than the judge, although it has just been synced."""
    here = holdings(url).jobs
    for job_id in sorted(here.keys() | found.jobs.keys()):
        mine, theirs = here.get(job_id), found.jobs.get(job_id)
        if (mine and mine.state) != (theirs and theirs.state):
            yield f"{url} shows {job_id} as {mine and mine.state}, not {theirs and theirs.state}"


def _all(backend: Backend) -> Iterator[Job]:
    after: str | None = None
    while True:
        page = backend.list(Filter(), limit=_PAGE, after=after)
        for job in page.jobs:
            # Only `get` knows the errors.
            yield job if job.error is None else backend.get(job.id) or job
        after = page.next
        if after is None:
            return


def _cancels(records: Iterable[Record]) -> Counter[str]:
    """How often an operator ended each job at once, because it waited."""
    return Counter(
        act.id
        for act in _kind(records, Acted)
        if (act.verb, act.state) == ("cancel", State.CANCELLED)
    )


class _AboutJob(Protocol):
    @property
    def id(self) -> str: ...


K = TypeVar("K")
A = TypeVar("A", bound=_AboutJob)


def _kind(records: Iterable[Record], kind: type[K]) -> list[K]:
    return [record for record in records if isinstance(record, kind)]


def _by_job(records: Iterable[A]) -> dict[str, list[A]]:
    return _grouped(records, lambda record: record.id)


def _grouped(records: Iterable[K], key: Callable[[K], str]) -> dict[str, list[K]]:
    found: defaultdict[str, list[K]] = defaultdict(list)
    for record in records:
        found[key(record)].append(record)
    return dict(found)
