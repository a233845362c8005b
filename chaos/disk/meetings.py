"""Two processes that meet: one stands still at each of its points while the other does its act.

Whatever they do to each other, each job must look, and both must have been answered, as if one of
them had come first.
"""

from __future__ import annotations

import fcntl
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from chaos.disk.course import differences, seen
from chaos.disk.mortal import Points
from chaos.disk.opening import folder, opened
from chaos.disk.steps import Stage
from ferryman.backends.files.disk import LocalDisk
from ferryman.backends.memory.backend import MemoryBackend
from ferryman.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from chaos.disk.course import Views
    from chaos.disk.opening import Build
    from chaos.disk.steps import Step
    from ferryman.backends.files.disk import Disk
    from ferryman.queue.contract import Backend

RIVAL: Final = "rival"
_TRIES: Final = 40
"""Whoever asks for a lock more often than that waits for it."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """`before` is played by the first process, then each does its act."""

    name: str
    before: Sequence[Step]
    first: Step
    second: Step


@dataclass(slots=True)
class Meetings:
    """The points of one meeting, how often the second had to wait, and what was wrong."""

    meeting: str
    points: int = 0
    waited: int = 0
    findings: list[str] = field(default_factory=list)


class Waits(BaseException):
    """The second process would wait for a lock that the first one holds."""


class _Impatient:
    """Where a process would wait, it gives up: here both share one thread."""

    def __init__(self, disk: LocalDisk) -> None:
        self._disk = disk
        self._refused: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._disk, name)

    def try_lock(self, path: str) -> int | None:
        try:
            return self._disk.try_lock(path)
        except BlockingIOError:
            self._refused[path] += 1
            if self._refused[path] > _TRIES:
                raise Waits(path) from None
            raise

    def lock(self, path: str) -> int | None:
        return self._at_once(path, fcntl.LOCK_EX)

    def lock_shared(self, path: str) -> int | None:
        return self._at_once(path, fcntl.LOCK_SH)

    def _at_once(self, path: str, how: int) -> int | None:
        try:
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(folder, how | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(folder)
            raise Waits(path) from None
        return folder


class _Interrupted(Points):
    """At one point, somebody else acts."""

    def __init__(self) -> None:
        super().__init__()
        self.over = True
        self._at = 0
        self._act: Callable[[], object] = lambda: None

    def arm(self, point: int, act: Callable[[], object]) -> None:
        """Count from here; at that point `act` is done."""
        self.seen.clear()
        self.over = False
        self._at, self._act = point, act

    def strikes(self) -> bool:
        # Inside a call nothing can be seen that is not seen before or after it.
        return False

    def strike(self, what: str) -> None:
        if not self.over and len(self.seen) - 1 == self._at:
            self.over = True
            self._act()


@dataclass(slots=True)
class _Seen:
    """How two acts ended: the jobs, and what each was told about each job."""

    views: Views
    answers: tuple[dict[str, Any], dict[str, Any]]


def meet(meeting: Meeting, build: Build = opened) -> Meetings:
    """Let the second act at each point of the first."""
    result = Meetings(meeting.name)
    orders = [_in_order(meeting, order) for order in _orders(meeting)]
    while True:
        with folder() as root:
            run = _Run(meeting, root, build)
            found = run.play(result.points)
            if found is None:
                return result
        where = f"{meeting.name} at {result.points} ({run.where})"
        result.waited += run.waited
        result.points += 1
        result.findings += (f"{where}: {text}" for text in _unexplained(found, orders))


class _Run:
    def __init__(self, meeting: Meeting, root: str, build: Build) -> None:
        self._meeting = meeting
        self._clock = FakeClock()
        self._disk = _Interrupted()
        self._first = Stage(build(root, self._clock, self._disk.disk), self._clock)
        for step in meeting.before:
            step.do(self._first)
        patient = cast("Disk", _Impatient(LocalDisk()))
        backend = build(root, self._clock, patient)
        self._second = _second(self._first, backend)
        self._other: Any = None
        self.waited = False
        self.where = ""

    def play(self, point: int) -> _Seen | None:
        """The first act, with the second one at a point of it; None if it has no such point."""
        self._disk.arm(point, self._interrupt)
        answer = self._meeting.first.do(self._first)
        if not self._disk.over:
            return None
        if self.waited:
            self._interrupt()
        views = seen(self._second.backend)
        for stage in (self._first, self._second):
            stage.backend.close()
        return _Seen(views, (told(answer), told(self._other)))

    def _interrupt(self) -> None:
        self.where = self.where or self._disk.seen[-1]
        try:
            self._other = self._meeting.second.do(self._second)
        except Waits:
            self.waited = True


def told(answer: Any) -> dict[str, Any]:
    """What a verb answered, by job."""
    if not isinstance(answer, Sequence):
        return {}
    return {_id(one): _gist(one) for one in answer}


def _second(first: Stage, backend: Backend) -> Stage:
    # It knows the claims of the first, as a copy of a worker does that was thought dead.
    return Stage(backend, first.clock, dict(first.held), first.turn, RIVAL)


def _orders(meeting: Meeting) -> Iterator[tuple[int, ...]]:
    """Who may have come first. A poll may also pass over a job that the other has in hand."""
    yield 0, 1
    yield 1, 0
    for number, step in enumerate((meeting.first, meeting.second)):
        if step.verb == "poll":
            yield (1 - number,)


def _in_order(meeting: Meeting, order: Sequence[int]) -> _Seen:
    clock = FakeClock()
    first = Stage(MemoryBackend(clock), clock)
    for step in meeting.before:
        step.do(first)
    acts = ((meeting.first, first), (meeting.second, _second(first, first.backend)))
    answers: list[dict[str, Any]] = [{}, {}]
    for number in order:
        step, stage = acts[number]
        answers[number] = told(step.do(stage))
    return _Seen(seen(first.backend), (answers[0], answers[1]))


def _unexplained(found: _Seen, orders: Sequence[_Seen]) -> Iterator[str]:
    ids = {job_id for one in (found, *orders) for job_id in one.views}
    for job_id in sorted(ids.union(*found.answers)):
        if not any(_alike(found, order, job_id) for order in orders):
            yield f"{job_id}: {'; or '.join(_unlike(found, order, job_id) for order in orders)}"


def _alike(found: _Seen, order: _Seen, job_id: str) -> bool:
    return found.views.get(job_id) == order.views.get(job_id) and all(
        one.get(job_id) == two.get(job_id)
        for one, two in zip(found.answers, order.answers, strict=True)
    )


def _unlike(found: _Seen, order: _Seen, job_id: str) -> str:
    texts = [differences(found.views.get(job_id), order.views.get(job_id))]
    for who, one, two in zip(("first", "second"), found.answers, order.answers, strict=True):
        if one.get(job_id) != two.get(job_id):
            texts.append(f"the {who} was told {one.get(job_id)}, not {two.get(job_id)}")
    return ", ".join(texts)


def _id(answer: Any) -> str:
    return str(getattr(answer, "job_id", None) or answer.id)


def _gist(answer: Any) -> Any:
    names = ("status", "applied", "held", "asked", "state", "fence", "attempts", "worker")
    return tuple(str(getattr(answer, name)) for name in names if hasattr(answer, name))
