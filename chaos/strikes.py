"""Carries out the faults of a plan."""

from __future__ import annotations

import heapq
import shutil
import time
from functools import partial
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from chaos.crew import Crew
    from chaos.faults import Fault
    from chaos.progress import Progress
    from chaos.scene import Scene
    from chaos.site import Site

_TICK: Final = 0.1


class Strikes:
    """Kills, freezes, drains and cuts at the planned times; what undoes them follows from them."""

    def __init__(self, scene: Scene, site: Site, crew: Crew, progress: Progress) -> None:
        self._scene = scene
        self._site = site
        self._crew = crew
        self._progress = progress
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._number = 0
        self._cuts: dict[str, int] = {}
        self.kills = 0
        self.freezes = 0
        self.drains = 0
        self.cuts = 0
        self.wipes = 0
        self.crashes = 0

    def run(self) -> None:
        """Every fault, and everyone alive, thawed and within reach in the end."""
        for fault in self._scene.plan.faults:
            self._until(fault.at)
            match fault.kind:
                case "kill":
                    self._kill(fault)
                case "freeze":
                    self._freeze(fault)
                case "drain":
                    self.drains += self._crew.ask(fault.target)
                case "cut":
                    self._cut(fault)
                case "wipe":
                    self._wipe(fault)
                case "crash":
                    self._crash(fault)
        while self._due:
            self._until(self._due[0][0])

    def _kill(self, fault: Fault) -> None:
        for name in (fault.target, fault.instead):
            # Its restart may be due only a moment later.
            self._crew.start(name)
            if self._crew.kill(name):
                self.kills += 1
                self._later(fault.seconds, partial(self._crew.start, name))
                return

    def _freeze(self, fault: Fault) -> None:
        for name in (fault.target, fault.instead):
            pid = self._crew.freeze(name)
            if pid is not None:
                self.freezes += 1
                self._later(fault.seconds, partial(self._crew.thaw, name, pid))
                return

    def _cut(self, fault: Fault) -> None:
        if self._site.network is not None:
            self._site.network.cut(fault.target, fault.instead)
            self.cuts += 1
            self._cuts[fault.target] = self.cuts
            self._later(fault.seconds, partial(self._heal, fault.target, self.cuts))

    def _heal(self, node: str, cut: int) -> None:
        """Unless it was cut again meanwhile."""
        if self._site.network is not None and self._cuts[node] == cut:
            self._site.network.heal(node)

    def _wipe(self, fault: Fault) -> None:
        for name in self._scene.plan.cast.on(fault.target):
            # Nobody may be at work in a folder that goes away, not even one that was late to die.
            self._crew.kill(name)
            self._later(fault.seconds, partial(self._crew.start, name))
        shutil.rmtree(self._site.roots[fault.target], ignore_errors=True)
        self.wipes += 1

    def _crash(self, fault: Fault) -> None:
        if self._site.server is not None:
            self._site.server.stop("immediate")
            self.crashes += 1
            self._later(fault.seconds, self._site.server.launch)

    def _later(self, seconds: float, act: Callable[[], None]) -> None:
        self._number += 1
        heapq.heappush(self._due, (self._scene.now + seconds, self._number, act))

    def _until(self, at: float) -> None:
        """Wait, and meanwhile do what is due and notice who ended by itself."""
        while True:
            while self._due and self._due[0][0] <= self._scene.now:
                heapq.heappop(self._due)[2]()
            self._crew.look()
            now = self._scene.now
            self._progress.struck(self.kills, self.freezes, now)
            if at <= now:
                return
            soonest = self._due[0][0] if self._due else at
            time.sleep(max(0.0, min(at - now, soonest - now, _TICK)))
