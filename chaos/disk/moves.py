"""Crash enumeration of `ferryman move`: its process dies at each call that it makes on either side.

Once the same move is run again; once workers of both stores go on first, and it is run later.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING, Final

from chaos.disk.course import seen
from chaos.disk.crashes import Crashes
from chaos.disk.healing import Healing, tidy
from chaos.disk.litter import litter
from chaos.disk.mortal import Died, MortalDisk
from chaos.disk.opening import AgedDisk, folder, opened
from chaos.disk.shores import BETWEEN, Reference, look
from chaos.disk.steps import LEASE, QUEUES
from chaos.disk.verdict import HEALED, gathered
from ferryman.backends.files.disk import LocalDisk
from ferryman.lifecycle import Verdict
from ferryman.queue.settlement import Settlement
from ferryman.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from chaos.disk.crossings import Crossing, Pair
    from chaos.disk.opening import Build
    from ferryman.backends.files.disk import Disk
    from ferryman.queue.contract import Backend
    from ferryman.service.move import Carried

_LONG: Final = 120.0
"""Seconds after which everything that waits is due, and every lease is over."""
_WORKER: Final = "worker"


def enumerate_moves(crossing: Crossing, *, every: int = 1, build: Build = opened) -> Crashes:
    """Die at each point (or at every n-th) of a move, then recover in two ways."""
    crashes = Crashes(crossing.name, _points(crossing, build))
    reference = Reference.of(crossing, deaths=1)
    for point in range(0, len(crashes.points) + 1, every):
        what = [*crashes.points, "before its answer"][point]
        where = f"{crossing.name}, died at {point} ({what})"
        for text in _findings(crossing, reference, [point], build):
            crashes.findings.append(f"{where}, {text}")
    return crashes


def die_twice_moving(
    crossing: Crossing, seed: int, count: int = 100, build: Build = opened
) -> Crashes:
    """Die at a point by chance, and let the process that goes on die at another one."""
    chance = Random(f"{seed} {crossing.name}")  # noqa: S311
    points = len(_points(crossing, build)) + 1
    reference = Reference.of(crossing, deaths=2)
    crashes = Crashes(crossing.name)
    for _ in range(count):
        deaths = [chance.randrange(points), chance.randrange(points)]
        crashes.points.append(str(deaths))
        for text in _findings(crossing, reference, deaths, build):
            crashes.findings.append(f"{crossing.name}, seed {seed}, died at {deaths}, {text}")
    return crashes


def _points(crossing: Crossing, build: Build) -> list[str]:
    with folder() as root:
        return Voyage(crossing, root, build).moves_until(None)


def _findings(
    crossing: Crossing, reference: Reference, deaths: Sequence[int], build: Build
) -> Iterator[str]:
    ways: Sequence[Callable[[Voyage, Reference], Iterator[str]]] = (_again, _abandoned)
    for way in ways:
        with folder() as root:
            voyage = Voyage(crossing, root, build)
            for point in deaths:
                voyage.moves_until(point)
            told = way.__name__.strip("_")
            yield from (f"{told}: {text}" for text in gathered(way(voyage, reference)))


class Voyage:
    """Two stores on one real disk, and the processes that move jobs between them."""

    def __init__(self, crossing: Crossing, root: str, build: Build) -> None:
        self.clock = FakeClock()
        self.roots = root, f"{root}-there"
        self._crossing = crossing
        self._build = build
        for store in crossing.fill(self._opened, self.clock):
            store.close()
        # Who was there before has its own offsets and caches, and goes on with them.
        self.witness = self._opened(0)
        self.witness.poll("witness", dict.fromkeys(QUEUES, 9), lease=LEASE, skip_tasks=["task"])
        self.clock.advance(BETWEEN)

    def open(self, disk: Disk | None = None) -> Pair:
        """Both stores, as one process has them open."""
        return self._opened(0, disk), self._opened(1, disk)

    def _opened(self, side: int, disk: Disk | None = None) -> Backend:
        return self._build(self.roots[side], self.clock, disk or LocalDisk())

    def moves_until(self, point: int | None) -> list[str]:
        """Another process moves and dies at a point; what its calls were about to be."""
        real = LocalDisk()
        real.together = self._crossing.together or real.together
        disk = MortalDisk(real)
        disk.arm(point)
        with suppress(Died):
            self.move(disk.disk)
        disk.die()
        self.clock.advance(BETWEEN)
        return disk.seen

    def move(self, disk: Disk | None = None) -> Carried:
        stores = self.open(disk)
        carried = self._crossing.move(stores)
        for store in stores:
            store.close()
        return carried


def _again(voyage: Voyage, reference: Reference) -> Iterator[str]:
    """The same move is run by another process, and must end as if nobody had died."""
    voyage.witness.close()
    stores = voyage.open()
    yield from reference.cut_off(look(stores))
    yield from reference.answered(voyage.move())
    yield from reference.through(look(stores))
    yield from _ended(voyage, stores)


def _abandoned(voyage: Voyage, reference: Reference) -> Iterator[str]:
    """Somebody lets the source run again; the move is run later. Nothing may run on both sides."""
    for queue in set(QUEUES) - set(reference.before[0].paused):
        voyage.witness.resume_queue(queue)
    _, target = voyage.open()
    ran = Counter(_worked(voyage.witness) + _worked(target))
    voyage.witness.close()
    target.close()
    voyage.move()
    stores = voyage.open()
    for store in stores:
        for queue in QUEUES:
            store.resume_queue(queue)
    for _ in range(2):
        voyage.clock.advance(_LONG)
        for store in stores:
            ran.update(_worked(store))
    yield from reference.worked(look(stores), ran)
    yield from _ended(voyage, stores)


def _worked(store: Backend) -> list[str]:
    """Claim and end what can be claimed now, as a worker and its upkeep would."""
    store.reap()
    jobs = store.poll(_WORKER, dict.fromkeys(QUEUES, 100), lease=LEASE)
    store.settle([Settlement.of(job, Verdict.ACK, result=HEALED) for job in jobs])
    return [job.id for job in jobs]


def _ended(voyage: Voyage, stores: Pair) -> Iterator[str]:
    """Everything comes to an end in both stores, and nothing is left behind in their folders."""
    for root, store in zip(voyage.roots, stores, strict=True):
        healing = Healing(store, voyage.clock, seen(store))
        views = healing.run()
        store.close()
        yield from healing.findings
        yield from tidy(opened(root, voyage.clock, AgedDisk()), views)
        yield from litter(LocalDisk(), root, views)
