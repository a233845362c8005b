"""Crash enumeration: one run for each point of an act at which its process can die."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from chaos.disk.course import Allowed, Course, Views, seen
from chaos.disk.healing import Healing, tidy
from chaos.disk.litter import litter
from chaos.disk.mortal import Died, MortalDisk
from chaos.disk.opening import AgedDisk, folder, opened
from chaos.disk.steps import LEASE, QUEUES, Stage
from chaos.disk.verdict import FORGETTING, gathered, missing, orphans, pushed_anew, repeated, unlike
from ferryman.backends.files.disk import LocalDisk
from ferryman.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from chaos.disk.opening import Build
    from chaos.disk.scenes import Scene
    from ferryman.queue.contract import Backend

_TRIES: Final = 20


@dataclass(slots=True)
class Crashes:
    """The points of one scene, and what was wrong after a death at them."""

    scene: str
    points: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)


def enumerate_crashes(
    scene: Scene, *, fresh: bool = False, every: int = 1, build: Build = opened
) -> Crashes:
    """Die at each point (or at every n-th) of an act, then recover in two ways.

    `fresh`: the act is done by another process than what was before it.
    """
    course = Course.of([*scene.before, scene.act])
    points = _points(scene, fresh, build)
    crashes = Crashes(scene.name, points)
    for point in range(0, len(points) + 1, every):
        what = points[point] if point < len(points) else "before its answer"
        run = _Run(scene, course, build, partial(_died, scene, points, point, fresh, build))
        crashes.findings += (f"{scene.name}, died at {point} ({what}): {f}" for f in run.findings())
    return crashes


def _points(scene: Scene, fresh: bool, build: Build) -> list[str]:
    """What an act does when nothing slows it down, as two plays say."""
    last: list[str] = []
    for _ in range(_TRIES):
        with folder() as root:
            played = _play(scene, root, None, fresh, build)
            played.disk.die()
            played.leave()
        points = played.disk.seen
        if _calls(points) == _calls(last):
            return points
        last = points
    raise RuntimeError(f"{scene.name}: no two of {_TRIES} plays made the same calls")


@contextmanager
def _died(
    scene: Scene, points: list[str], point: int, fresh: bool, build: Build
) -> Iterator[tuple[str, _Played]]:
    """A folder in which it died at a point by these calls; a slow machine may make others."""
    planned = _calls(points[: point + 1])
    for _ in range(_TRIES):
        with folder() as root:
            played = _play(scene, root, point, fresh, build)
            # What a dead process still tried is of no interest.
            if _calls(played.disk.seen[: point + 1]) == planned:
                yield root, played
                return
            played.leave()
    raise RuntimeError(f"{scene.name}: never came to point {point} by the planned way")


class _Run:
    """One death, on two equal folders: one where the act is repeated, one where it is not."""

    def __init__(
        self,
        scene: Scene,
        course: Course,
        build: Build,
        died: Callable[[], AbstractContextManager[tuple[str, _Played]]],
    ) -> None:
        self._scene = scene
        self._course = course
        self._build = build
        self._died = died
        self._last = len(scene.before)

    def findings(self) -> Iterator[str]:
        found: Views = {}
        with self._died() as (root, died):
            yield from gathered(self._repeating(root, died.stage, found))
        with self._died() as (root, died):
            yield from (f"abandoned: {text}" for text in gathered(self._ending(root, died, found)))

    def _ending(self, root: str, died: _Played, found: Views) -> Iterator[str]:
        """Whoever was there before sees what follows; else one that comes for it."""
        clock = died.stage.clock
        healer = died.witness or self._build(root, clock, disk_for(self._scene))
        if self._scene.act.verb in FORGETTING:
            yield from pushed_anew(healer, self._course, found)
        yield from ended(self._scene, self._course, root, healer, found)

    def _allowed(self) -> Allowed:
        allowed = self._course.after_crash(self._last)
        if not self._scene.by_hand:
            return allowed
        # Nobody was told that a dropped file is a job.
        return {job_id: [*jobs, None] for job_id, jobs in allowed.items()}

    def _repeating(self, root: str, stage: Stage, found: Views) -> Iterator[str]:
        course = self._course
        backend = self._build(root, stage.clock, disk_for(self._scene))
        found.update(seen(backend))
        yield from unlike(found, self._allowed())
        yield from orphans(found, course.views[self._last])
        again = Stage(backend, stage.clock, stage.held, stage.turn)
        yield from (f"repeated: {f}" for f in repeated(self._scene.act, again, course))
        ends = ended(self._scene, course, root, backend, seen(backend))
        yield from (f"repeated: {finding}" for finding in ends)


def ended(scene: Scene, course: Course, root: str, healer: Backend, found: Views) -> Iterator[str]:
    """Let a process bring everything to an end; what was wrong on the way or is at last."""
    clock = cast("FakeClock", healer.clock)
    healing = Healing(healer, clock, found)
    views = healing.run()
    healer.close()
    yield from healing.findings
    yield from tidy(opened(root, clock, AgedDisk()), views)
    yield from missing(views, course.views[-1], course.views[-2])
    yield from litter(LocalDisk(), root, views, scene.aside)


def disk_for(scene: Scene) -> LocalDisk:
    return AgedDisk() if scene.by_hand else LocalDisk()


class _Played(NamedTuple):
    stage: Stage
    disk: MortalDisk
    witness: Backend | None

    def leave(self) -> None:
        if self.witness is not None:
            self.witness.close()


def _calls(points: list[str]) -> list[str]:
    """Points by their calls alone: no two plays have the same paths."""
    return [point.partition(" ")[0] for point in points]


def _play(scene: Scene, root: str, point: int | None, fresh: bool, build: Build) -> _Played:
    """Play a scene; the process of its act dies at a point.

    Either another process does the act, or another one looked on before it.
    """
    clock = FakeClock()
    disk = MortalDisk()
    stage = Stage(build(root, clock, disk.disk), clock, files=(LocalDisk(), root))
    for step in scene.before:
        step.do(stage)
    witness = None
    if fresh:
        stage.backend.close()
        disk = MortalDisk(disk_for(scene))
    else:
        witness = build(root, clock, LocalDisk())
        witness.poll("witness", dict.fromkeys(QUEUES, 9), lease=LEASE, skip_tasks=["task"])
    try:
        disk.arm(point)
        if fresh:
            stage.backend = build(root, clock, disk.disk)
        scene.act.do(stage)
    except Died:
        pass
    if point is not None:
        disk.die()
    return _Played(stage, disk, witness)
