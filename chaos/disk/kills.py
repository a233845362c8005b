"""The same deaths by the kernel's hand: a forked child that ends itself with SIGKILL at a point."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from chaos.disk.course import Course, seen
from chaos.disk.crashes import ended
from chaos.disk.mortal import MortalDisk
from chaos.disk.opening import folder, opened
from chaos.disk.steps import Stage
from chaos.disk.verdict import gathered, orphans, unlike
from ferryman.backends.files.disk import LocalDisk
from ferryman.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chaos.disk.scenes import Scene


class SelfKillingDisk(MortalDisk):
    """Ends its process: nothing is closed, nothing is tidied, nobody is told."""

    def die(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


def kill(scene: Scene, point: int) -> list[str]:
    """Let a child play a scene and kill itself at a point of the act; what is wrong afterwards."""
    with folder() as root:
        child = os.fork()
        if child == 0:
            _play(scene, root, point)
        _, status = os.waitpid(child, 0)
        if os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
            return [f"{scene.name}: the child ended by itself before point {point}: {status}"]
        return [
            f"{scene.name}, killed at {point}: {text}" for text in gathered(_findings(scene, root))
        ]


def _play(scene: Scene, root: str, point: int) -> None:
    """Never returns: whatever happens, this is a copy of somebody else's process."""
    try:
        clock = FakeClock()
        disk = SelfKillingDisk()
        stage = Stage(opened(root, clock, disk.disk), clock)
        for step in scene.before:
            step.do(stage)
        disk.arm(point)
        scene.act.do(stage)
        disk.die()
    finally:
        os._exit(1)


def _findings(scene: Scene, root: str) -> Iterator[str]:
    course = Course.of([*scene.before, scene.act])
    last = len(scene.before)
    clock = FakeClock(course.times[last])
    backend = opened(root, clock, LocalDisk())
    found = seen(backend)
    yield from unlike(found, course.after_crash(last))
    yield from orphans(found, course.views[last])
    yield from ended(scene, course, root, backend, found)
