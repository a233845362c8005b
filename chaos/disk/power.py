"""Losses of power on a simulated disk, at every change that a script makes."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from chaos.disk.course import Course, seen
from chaos.disk.healing import Healing, tidy
from chaos.disk.inodes import Inodes
from chaos.disk.litter import litter
from chaos.disk.losses import fingerprint, losses
from chaos.disk.opening import opened
from chaos.disk.simulated import SimulatedDisk
from chaos.disk.steps import Stage
from chaos.disk.verdict import gathered, missing, orphans, unlike
from ferryman.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chaos.disk.opening import Build
    from chaos.disk.steps import Step

_ROOT = "/store"


class Left(NamedTuple):
    """What a loss of power left: when, in which step, and the surviving tree."""

    at: float
    step: int
    moment: int
    tree: Inodes


@dataclass(slots=True)
class Losses:
    """The losses of one script: moments, distinct states, and what was wrong after them."""

    script: str
    moments: int = 0
    states: int = 0
    findings: list[str] = field(default_factory=list)


def lose_power(
    name: str, steps: Sequence[Step], seed: int, each: int = 8, build: Build = opened
) -> Losses:
    """Play steps once; at each change keep `each` surviving states, and recover every new one."""
    course = Course.of(steps)
    play = _Play(steps, seed, each, build)
    left = play.run()
    result = Losses(name, play.moments, play.states)
    for state in left:
        for finding in gathered(_recovered(state, course, build)):
            told = steps[state.step].verb if state.step < len(steps) else "the end"
            where = f"{name}, seed {seed}, moment {state.moment} in step {state.step} ({told})"
            result.findings.append(f"{where}: {finding}")
    return result


class _Play:
    """One undisturbed run of a script, seen by somebody who pulls plugs."""

    def __init__(self, steps: Sequence[Step], seed: int, each: int, build: Build) -> None:
        self.moments = 0
        self._steps = steps
        self._chance = Random(seed)  # noqa: S311
        # Both ways to make a batch durable have their turn.
        self._together = 2 if seed % 2 else None
        self._each = each
        self._build = build
        self._step = 0
        self._clock = FakeClock()
        self._inodes = Inodes()
        self._known: set[bytes] = set()
        self._judged: set[tuple[bytes, int]] = set()
        self._left: list[Left] = []

    def run(self) -> Sequence[Left]:
        disk = SimulatedDisk(self._inodes, self._clock, self._pull, together=self._together)
        stage = Stage(self._build(_ROOT, self._clock, disk), self._clock)
        for step in self._steps:
            step.do(stage)
            self._step += 1
        self._pull()
        return self._left

    @property
    def states(self) -> int:
        return len(self._known)

    def _pull(self) -> None:
        self.moments += 1
        for tree in losses(self._inodes, self._chance, self._each):
            # The same tree means more once a further step was answered.
            key = fingerprint(tree), self._step
            self._known.add(key[0])
            if key not in self._judged:
                self._judged.add(key)
                self._left.append(Left(self._clock.now(), self._step, self.moments, tree))


def _recovered(left: Left, course: Course, build: Build) -> Iterator[str]:
    """Start the machine again and judge what is found, then that everything comes to an end."""
    clock = FakeClock(left.at)
    disk = SimulatedDisk(left.tree, clock, boot="second boot")
    backend = build(_ROOT, clock, disk)
    found = seen(backend)
    before = course.views[left.step]
    yield from unlike(found, course.after_loss(left.step))
    yield from orphans(found, before)
    healing = Healing(backend, clock, found)
    views = healing.run()
    yield from healing.findings
    backend.close()
    clock.advance(7_200)
    yield from tidy(build(_ROOT, clock, disk), views)
    yield from missing(views, course.views[min(left.step + 1, len(course.steps))], before)
    yield from litter(disk, _ROOT, views)
