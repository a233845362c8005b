"""Processes that follow each other on one simulated disk; each may die at a change of its act."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from chaos.disk.inodes import Inodes
from chaos.disk.mortal import Died
from chaos.disk.simulated import SimulatedDisk
from chaos.disk.steps import Stage
from ferryman.testing import FakeClock

if TYPE_CHECKING:
    from chaos.disk.opening import Build
    from chaos.disk.scenes import Scene
    from ferryman.queue.contract import Backend

ROOT: Final = "/store"


class Succession:
    """Plays what comes before an act; then the act, by this process and by others after it."""

    def __init__(self, scene: Scene, build: Build) -> None:
        self.inodes = Inodes()
        self.clock = FakeClock()
        self._scene = scene
        self._build = build
        self._left = -1
        self.stage = Stage(self._opened(), self.clock)
        for step in scene.before:
            step.do(self.stage)

    def act(self, dies_at: int) -> bool:
        """Do the act and die at a change of it; False if it has fewer changes than that."""
        self._left = dies_at
        try:
            self._scene.act.do(self.stage)
        except Died:
            return True
        finally:
            self._left = -1
        return False

    def next(self) -> Stage:
        """Another process, which knows what the one before it held."""
        self.stage = Stage(self._opened(), self.clock, self.stage.held, self.stage.turn)
        return self.stage

    def reboot(self, tree: Inodes) -> Stage:
        """A process after a loss of power that left this tree."""
        disk = SimulatedDisk(tree, self.clock, boot="second boot")
        return Stage(self._build(ROOT, self.clock, disk), self.clock)

    def _opened(self) -> Backend:
        disk = SimulatedDisk(self.inodes, self.clock, self._count)
        return self._build(ROOT, self.clock, disk)

    def _count(self) -> None:
        if self._left == 0:
            # From here on every change that this process tries finds it dead.
            raise Died
        self._left -= 1
