"""Losses of power while jobs are moved between two stores of one simulated disk."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Final

from chaos.disk.inodes import Inodes
from chaos.disk.losses import fingerprint, losses
from chaos.disk.mortal import Died
from chaos.disk.opening import opened
from chaos.disk.shores import BETWEEN, Reference, look
from chaos.disk.simulated import SimulatedDisk
from chaos.disk.verdict import gathered
from ferryman.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from chaos.disk.crossings import Crossing, Pair
    from chaos.disk.opening import Build

_ROOTS: Final = ("/here", "/there")


@dataclass(slots=True)
class Plugs:
    """The moments of one crossing at which the power went, and what was wrong afterwards."""

    crossing: str
    moments: int = 0
    states: set[bytes] = field(default_factory=set)
    findings: list[str] = field(default_factory=list)


def lose_power_moving(crossing: Crossing, seed: int, each: int = 4, build: Build = opened) -> Plugs:
    """Lose power at each change of a move, and run it again in every new state."""
    plugs = Plugs(crossing.name)
    chance = Random(f"{seed} {crossing.name}")  # noqa: S311
    left: list[tuple[int, Inodes]] = []

    def pull() -> None:
        plugs.moments += 1
        for tree in losses(scene.inodes, chance, each):
            known = fingerprint(tree)
            if known not in plugs.states:
                plugs.states.add(known)
                left.append((plugs.moments, tree))

    scene = _Scene(crossing, build)
    scene.move(pull)
    reference = Reference.of(crossing, deaths=1)
    for moment, tree in left:
        where = f"{crossing.name}, seed {seed}, power lost at moment {moment}"
        found = gathered(_again(scene, tree, reference))
        plugs.findings += (f"{where}: {text}" for text in found)
    return plugs


def die_then_lose_power_moving(
    crossing: Crossing, seed: int, each: int = 4, every: int = 1, build: Build = opened
) -> Plugs:
    """Die at each change of a move; another process runs it to its end, then the power goes.

    What it answered must last although the first one left a part of it unsynced.
    """
    plugs = Plugs(crossing.name)
    reference = Reference.of(crossing, deaths=1)
    while True:
        scene = _Scene(crossing, build)
        if not scene.dies_at(plugs.moments * every):
            return plugs
        scene.move()
        chance = Random(f"{seed} {plugs.moments}")  # noqa: S311
        for tree in losses(scene.inodes, chance, each):
            plugs.states.add(fingerprint(tree))
            where = f"{crossing.name}, seed {seed}, died at change {plugs.moments * every}"
            found = gathered(_lasting(scene, tree, reference))
            plugs.findings += (f"{where}, moved, power lost: {text}" for text in found)
        plugs.moments += 1


class _Scene:
    """Two stores on one simulated disk, filled and about to be moved."""

    def __init__(self, crossing: Crossing, build: Build) -> None:
        self.inodes = Inodes()
        self._clock = FakeClock()
        self.crossing = crossing
        self._build = build
        disk = SimulatedDisk(self.inodes, self._clock)
        crossing.fill(lambda side: build(_ROOTS[side], self._clock, disk), self._clock)
        self._clock.advance(BETWEEN)

    def move(self, moment: Callable[[], object] = lambda: None) -> None:
        """Another process moves; at each change it calls this first."""
        disk = SimulatedDisk(self.inodes, self._clock, moment, together=self.crossing.together)
        try:
            self.crossing.move(self._open(disk))
        finally:
            self._clock.advance(BETWEEN)

    def dies_at(self, change: int) -> bool:
        """A process moves and dies at a change; False if it has fewer changes than that."""
        left = change

        def count() -> None:
            nonlocal left
            if left == 0:
                raise Died
            left -= 1

        try:
            self.move(count)
        except Died:
            return True
        return False

    def reboot(self, tree: Inodes) -> Pair:
        """Both stores after a loss of power that left this tree."""
        return self._open(SimulatedDisk(tree, self._clock, boot="second boot"))

    def _open(self, disk: SimulatedDisk) -> Pair:
        here, there = _ROOTS
        return self._build(here, self._clock, disk), self._build(there, self._clock, disk)


def _again(scene: _Scene, tree: Inodes, reference: Reference) -> Iterator[str]:
    """The move is run again after the loss of power."""
    stores = scene.reboot(tree)
    yield from reference.cut_off(look(stores))
    yield from reference.answered(scene.crossing.move(stores))
    yield from reference.through(look(stores))


def _lasting(scene: _Scene, tree: Inodes, reference: Reference) -> Iterator[str]:
    """The move was through before the loss of power."""
    yield from reference.through(look(scene.reboot(tree)), rebooted=True)
