"""A process dies, another one goes on, and that one dies too, or the power is lost.

What the second one acknowledged must be durable although the first one left it unsynced.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from chaos.disk.course import Course, seen
from chaos.disk.healing import Healing, tidy
from chaos.disk.litter import litter
from chaos.disk.losses import fingerprint, losses
from chaos.disk.opening import opened
from chaos.disk.simulated import SimulatedDisk
from chaos.disk.succession import ROOT, Succession
from chaos.disk.verdict import FORGETTING, HEALED, gathered, missing, orphans, repeated, unlike

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chaos.disk.course import Allowed, Views
    from chaos.disk.opening import Build
    from chaos.disk.scenes import Scene


@dataclass(slots=True)
class Relay:
    """The deaths of one scene, and the distinct states that losses of power left after them."""

    scene: str
    deaths: int = 0
    states: set[bytes] = field(default_factory=set)
    findings: list[str] = field(default_factory=list)


def die_then_lose_power(scene: Scene, seed: int, each: int = 4, build: Build = opened) -> Relay:
    """Die at each change of an act; let another process repeat it or bring all to an end."""
    relay = Relay(scene.name)
    course = Course.of([*scene.before, scene.act])
    while True:
        for how in (_repeated, _ended):
            processes = Succession(scene, build)
            if not processes.act(relay.deaths):
                return relay
            chance = Random(f"{seed} {relay.deaths}")  # noqa: S311
            trees = _Trees(processes, chance, each, relay.states)
            for finding in gathered(how(scene, course, processes, trees)):
                where = f"{scene.name}, seed {seed}, died at change {relay.deaths}"
                relay.findings.append(f"{where}, then{how.__name__.replace('_', ' ')}: {finding}")
        relay.deaths += 1


def die_twice(scene: Scene, seed: int, each: int = 4, build: Build = opened) -> Relay:
    """Die at each change of an act; another process repeats it and dies as well, at `each` ones."""
    relay = Relay(scene.name)
    course = Course.of([*scene.before, scene.act])
    first = 0
    while True:
        chance = Random(f"{seed} {first}")  # noqa: S311
        for second in chance.sample(range(40), each):
            processes = Succession(scene, build)
            if not processes.act(first):
                return relay
            processes.next()
            processes.act(second)
            relay.deaths += 1
            where = f"{scene.name}, seed {seed}, died at changes {first} and {second}"
            for finding in gathered(_survived(scene, course, processes)):
                relay.findings.append(f"{where}: {finding}")
        first += 1


@dataclass(slots=True)
class _Trees:
    """What losses of power leave at the end of a succession."""

    processes: Succession
    chance: Random
    each: int
    known: set[bytes]

    def unlike(self, allowed: Allowed) -> Iterator[str]:
        for tree in losses(self.processes.inodes, self.chance, self.each):
            self.known.add(fingerprint(tree))
            after = seen(self.processes.reboot(tree).backend)
            yield from (f"power lost: {finding}" for finding in unlike(after, allowed))


def _repeated(scene: Scene, course: Course, processes: Succession, trees: _Trees) -> Iterator[str]:
    """The act is done again and answered: that lasts.

    Who finds nothing left to forget has forgotten nothing, and promised nothing.
    """
    yield from repeated(scene.act, processes.next(), course)
    if scene.act.verb in FORGETTING:
        yield from trees.unlike(course.after_loss(len(scene.before)))
    elif scene.act.lasting:
        yield from trees.unlike(course.after_loss(len(course.steps)))


def _ended(scene: Scene, course: Course, processes: Succession, trees: _Trees) -> Iterator[str]:
    """Everything is brought to an end: what was ended here lasts.

    Of the rest nobody was told, so it may be as before the act.
    """
    backend = processes.next().backend
    healing = Healing(backend, processes.clock, seen(backend))
    views = healing.run()
    yield from healing.findings
    before = course.after_loss(len(scene.before))
    untold = {job_id: [*jobs, views.get(job_id)] for job_id, jobs in before.items()}
    told = {job_id: [job] for job_id, job in views.items() if job.result == HEALED}
    yield from trees.unlike({**untold, **told})


def _survived(scene: Scene, course: Course, processes: Succession) -> Iterator[str]:
    """After two deaths, the third process finds each job before or after, and ends them all."""
    last = len(scene.before)
    backend = processes.next().backend
    found = seen(backend)
    yield from unlike(found, course.after_crash(last))
    yield from orphans(found, course.views[last])
    healing = Healing(backend, processes.clock, found)
    views: Views = healing.run()
    yield from healing.findings
    yield from missing(views, course.views[-1], course.views[last])
    backend.close()
    processes.clock.advance(7_200)
    yield from tidy(processes.next().backend, views)
    disk = SimulatedDisk(processes.inodes, processes.clock)
    yield from litter(disk, ROOT, views)
