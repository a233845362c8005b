"""Disks that fail: a full or broken one at each point of an act. The process lives on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chaos.disk.course import Course, seen
from chaos.disk.healing import Healing, tidy
from chaos.disk.litter import litter
from chaos.disk.mortal import FailingDisk
from chaos.disk.opening import AgedDisk, folder, opened
from chaos.disk.steps import Stage, message
from chaos.disk.verdict import gathered, missing, orphans, repeated, unlike
from ferryman.backends.files.disk import LocalDisk
from ferryman.errors import BackendError, BackendUnavailable
from ferryman.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chaos.disk.opening import Build
    from chaos.disk.scenes import Scene


@dataclass(slots=True)
class Faults:
    """The calls of one scene that failed, and what was wrong afterwards."""

    scene: str
    failed: int = 0
    findings: list[str] = field(default_factory=list)


def enumerate_faults(
    scene: Scene, number: int, *, lasting: bool = False, every: int = 1, build: Build = opened
) -> Faults:
    """Fail each call (or every n-th) of an act once, or from there on until it is over."""
    course = Course.of([*scene.before, scene.act])
    faults = Faults(scene.name)
    point = 0
    while True:
        with folder() as root:
            run = _Run(scene, course, root, FailingDisk(number, lasting=lasting), build)
            found = list(gathered(run.findings(point)))
        if not run.failed:
            return faults
        faults.failed += 1
        faults.findings += (f"{scene.name}, failed: {run.failed[0]}: {text}" for text in found)
        point += every


class _Run:
    def __init__(
        self, scene: Scene, course: Course, root: str, disk: FailingDisk, build: Build
    ) -> None:
        self._scene = scene
        self._course = course
        self._root = root
        self._disk = disk
        self._build = build
        self._clock = FakeClock()
        self._stage = Stage(build(root, self._clock, disk.disk), self._clock)
        for step in scene.before:
            step.do(self._stage)

    @property
    def failed(self) -> list[str]:
        return self._disk.failed

    def findings(self, point: int) -> Iterator[str]:
        self._disk.arm(point)
        answered = True
        try:
            self._scene.act.do(self._stage)
        except BackendError:
            answered = False
        except OSError as error:
            answered = False
            yield f"raised a bare {error!r}"
        self._disk.repair()
        if not self.failed:
            return
        if self._disk.sync_failed:
            yield from self._refuses()
            if answered and self._scene.act.lasting:
                yield "was acknowledged although a sync failed"
        yield from self._judged(answered)

    def _refuses(self) -> Iterator[str]:
        """After a failed sync nobody knows what is on the disk: nothing more is acknowledged."""
        try:
            self._stage.backend.push([message("afterwards")])
        except BackendUnavailable:
            return
        yield "a push was acknowledged after a failed sync"

    def _judged(self, answered: bool) -> Iterator[str]:
        course, last = self._course, len(self._scene.before)
        stage = self._stage
        stage.backend.close()
        stage.backend = self._build(self._root, self._clock, LocalDisk())
        found = seen(stage.backend)
        polled = self._scene.act.verb == "poll"
        if answered and not polled:
            yield from (f"answered, but {f}" for f in unlike(found, course.after_crash(last + 1)))
        else:
            yield from unlike(found, course.after_crash(last))
        yield from orphans(found, course.views[last])
        yield from (f"repeated: {f}" for f in repeated(self._scene.act, stage, course))
        now = seen(stage.backend)
        healing = Healing(stage.backend, self._clock, now)
        views = healing.run()
        stage.backend.close()
        yield from healing.findings
        yield from tidy(self._build(self._root, self._clock, AgedDisk()), views)
        yield from missing(views, course.views[-1], course.views[last])
        yield from litter(LocalDisk(), self._root, views)
