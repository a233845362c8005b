"""Both stores of a move as a reader finds them, and what they may look like when it died."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from chaos.disk.course import Allowed, Views, differences, seen
from chaos.disk.verdict import HEALED, unlike
from ferryman import State
from ferryman.backends.memory.backend import MemoryBackend
from ferryman.service.move.pauses import CELLS as NOTES
from ferryman.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from chaos.disk.crossings import Crossing, Pair
    from ferryman import Job
    from ferryman.queue.contract import Backend
    from ferryman.service.move import Carried

BETWEEN: Final = 1.0
"""Seconds from a death to the process that goes on: two processes never push at one moment."""
_ACTIVE: Final = (State.PENDING, State.PROCESSING)


class Shore(NamedTuple):
    """One store: its jobs in push order, its paused queues, and its cells."""

    jobs: Views
    paused: Sequence[str]
    cells: Sequence[str]

    @classmethod
    def of(cls, store: Backend) -> Shore:
        queues = store.snapshot().queues
        paused = sorted(name for name, counts in queues.items() if counts.paused)
        return cls(seen(store), paused, [cell.key for cell in store.read_cells("")])


Shores = tuple[Shore, Shore]


def look(stores: Pair) -> Shores:
    """The source and the target."""
    here, there = map(Shore.of, stores)
    return here, there


@dataclass(frozen=True, slots=True)
class Reference:
    """What a move has to do, as the memory backend says: once at the start, and after deaths.

    The times differ only in what is reaped on the way.
    """

    before: Shores
    after: Sequence[Shores]
    left: Sequence[str]

    @classmethod
    def of(cls, crossing: Crossing, deaths: int = 0) -> Reference:
        ends = [_moved(crossing, BETWEEN * number) for number in range(deaths + 1)]
        before, _, carried = ends[0]
        return cls(before, [after for _, after, _ in ends], _left(carried))

    def cut_off(self, found: Shores) -> Iterator[str]:
        """What is wrong between the stores although the move can still go on."""
        for name, shore, allowed in zip(_NAMES, found, self._on_the_way(), strict=True):
            yield from (f"{name}: {text}" for text in unlike(shore.jobs, allowed))
        here, there = (shore.jobs for shore in found)
        for job_id in sorted(self._ids - here.keys() - there.keys()):
            yield f"{job_id}: lost by both"
        known = self.before[1].jobs.keys()
        for job_id in sorted((here.keys() & there.keys()) - known):
            if here[job_id].state in _ACTIVE and there[job_id].state in _ACTIVE:
                yield f"{job_id}: both can run it"

    def through(self, found: Shores, *, rebooted: bool = False) -> Iterator[str]:
        """What is not as it must be when a move was answered, or after a loss of power since."""
        for name, shore, ends in zip(_NAMES, found, zip(*self.after, strict=True), strict=True):
            yield from (f"{name}: {text}" for text in unlike(shore.jobs, _any_of(ends)))
            expected = ends[0]
            order, in_order = self._order(shore), self._order(expected)
            if order != in_order:
                yield f"{name}: in the order {order}, expected {in_order}"
            if shore.paused != expected.paused:
                yield f"{name}: paused are {shore.paused}, expected {expected.paused}"
            # A note that was removed unsynced may come back: it is about a pause that is over.
            cells = [key for key in shore.cells if not (rebooted and key.startswith(NOTES))]
            if cells != expected.cells:
                yield f"{name}: has the cells {cells}, expected {expected.cells}"

    def worked(self, found: Shores, ran: Mapping[str, int]) -> Iterator[str]:
        """What is wrong when workers went on, before and after the move was run again."""
        known = self.before[0].jobs.keys() & self.before[1].jobs.keys()
        for job_id in sorted(self._ids):
            jobs = [shore.jobs[job_id] for shore in found if job_id in shore.jobs]
            if not jobs:
                yield f"{job_id}: lost by both"
            elif job_id not in known and job_id not in self.left:
                yield from (f"{job_id}: {text}" for text in self._worked(job_id, jobs, ran[job_id]))

    def _worked(self, job_id: str, jobs: Sequence[Job], ran: int) -> Iterator[str]:
        ends = [
            shore.jobs[job_id] for after in self.after for shore in after if job_id in shore.jobs
        ]
        active = ends[0].state in _ACTIVE
        if len(jobs) > 1:
            yield "is in both stores"
        if ran != active:
            yield f"ran {ran} times"
        if not active and jobs[0] not in ends:
            yield f"changed: {differences(jobs[0], ends[0])}"
        if active and (jobs[0].result, jobs[0].generation) != (HEALED, ends[0].generation):
            yield f"is {jobs[0].state} with {jobs[0].result} of generation {jobs[0].generation}"

    def answered(self, carried: Carried) -> Iterator[str]:
        """What is wrong with the report of a move that came to its end."""
        left = _left(carried)
        if left != self.left:
            yield f"left {left}, expected {self.left}"

    def _order(self, shore: Shore) -> list[str]:
        # A record that the target had is taken over when its turn comes, or its page's.
        return [job_id for job_id in shore.jobs if job_id not in self.before[1].jobs]

    @property
    def _ids(self) -> set[str]:
        return {job_id for shore in self.before for job_id in shore.jobs}

    def _on_the_way(self) -> tuple[Allowed, Allowed]:
        here = {job_id: list(self._choices(job_id, 0)) for job_id in self._ids}
        there = {job_id: list(self._choices(job_id, 1)) for job_id in self._ids}
        return here, there

    def _choices(self, job_id: str, side: int) -> Iterator[Job | None]:
        """As before or as after on its side; reaped and not gone yet, or there and not free yet."""
        yield self.before[side].jobs.get(job_id)
        for after in self.after:
            yield after[side].jobs.get(job_id)
            moved = after[1].jobs.get(job_id)
            if moved is None or job_id not in self.before[0].jobs or job_id in self.left:
                continue
            yield moved
            if side == 1:
                yield None
                if moved.state is State.PENDING:
                    yield replace(moved, state=State.PAUSED)


_NAMES: Final = ("source", "target")


def _any_of(shores: Sequence[Shore]) -> Allowed:
    ids = {job_id for shore in shores for job_id in shore.jobs}
    return {job_id: [shore.jobs.get(job_id) for shore in shores] for job_id in ids}


def _left(carried: Carried) -> list[str]:
    return sorted(one.id for one in carried.left)


def _moved(crossing: Crossing, later: float) -> tuple[Shores, Shores, Carried]:
    clock = FakeClock()
    stores = MemoryBackend(clock), MemoryBackend(clock)
    crossing.fill(stores.__getitem__, clock)
    before = look(stores)
    clock.advance(BETWEEN + later)
    carried = crossing.move(stores)
    return before, look(stores), carried
