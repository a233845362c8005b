"""What is measured on files: like the rest, but by turns, on a disk and on a memory file system."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from bench import gates
from bench.contender import payload
from bench.result import Pair
from bench.stand import FILL, stand_for
from bench.syncs import folder_syncs
from bench.turns import Racer, Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bench.contender import Contender, Payload
    from bench.workloads import Rivals, Sizes

BLOCK: Final = 500
LOW: Final = 20_000
LAPS: Final = 9
"""Of which the median counts: a server tidies up after a long line was filled."""
BYTES: Final = 12_000
"""What a waiting job and its record take of a file system, and three inodes."""


def pushes(rivals: Rivals, sizes: Sizes) -> Iterator[Sequence[Pair]]:
    """One by one, by a thousand, the second compared with the first, and its fsyncs."""
    block = [payload(number) for number in range(min(BLOCK, sizes.push))]
    batch = [payload(number) for number in range(min(FILL, sizes.push_many))]
    while True:
        with rivals.stands() as (raw, ours):
            sides: tuple[Contender, Contender] = raw.contender, ours.contender
            one, many = (Tally(), Tally()), (Tally(), Tally())
            for _ in range(max(1, sizes.push // BLOCK)):
                for tally, side in zip(one, sides, strict=True):
                    tally.add(len(block), partial(_one_by_one, side, block))
                for tally, side in zip(many, sides, strict=True):
                    tally.add(len(batch), partial(side.push_many, batch))
        syncs = folder_syncs(rivals.home, len(batch))
        yield [
            Pair(rivals.name(gates.PUSH), one[1].rate, one[0].rate),
            Pair(rivals.name(gates.PUSH_MANY), many[1].rate, many[0].rate),
            Pair(rivals.name(gates.MANY_TO_ONE), many[1].rate, one[1].rate),
            Pair(rivals.name(gates.FOLDER_SYNCS), syncs, None),
        ]


def drains(rivals: Rivals, sizes: Sizes) -> Iterator[Sequence[Pair]]:
    """By one worker, by two, and the second compared with the first."""
    jobs = sizes.by_turns
    while True:
        with ExitStack() as stack:
            racer = partial(_racer, stack, rivals, jobs)
            racers = [
                racer(rivals.raw, 1),
                racer(rivals.ours, 1),
                racer(rivals.raw, 2),
                racer(rivals.ours, 2),
            ]
            for handled in range(BLOCK, jobs, BLOCK):
                for each in racers:
                    each.run(handled)
            for each in racers:
                each.run(jobs)
                each.end()
            raw, ours, raw_by_two, two = (each.lap() for each in racers)
        yield [
            Pair(rivals.name(gates.DRAIN), ours, raw),
            Pair(rivals.name(gates.DRAIN_BY_TWO), two, raw_by_two),
            Pair(rivals.name(gates.TWO_TO_ONE), two, ours),
        ]


def drain_beside(rivals: Rivals, sizes: Sizes) -> Iterator[Sequence[Pair]]:
    """Ours beside a long line, compared with ours beside a short one; both stay as long."""
    low, high, jobs = min(LOW, sizes.crowd), sizes.crowd, sizes.by_turns
    if not _room(rivals, low + high):
        return
    with ExitStack() as stack:
        short, long = (_racer(stack, rivals, size, rivals.ours, 1) for size in (low, high))
        while True:
            laps = [_lap(short, long, jobs) for _ in range(LAPS)]
            rates = [median(of_one) for of_one in zip(*laps, strict=True)]
            yield [Pair(rivals.name(gates.drain_beside(high)), rates[1], rates[0])]


def drain_beside_a_million(rivals: Rivals, sizes: Sizes) -> Iterator[Sequence[Pair]]:
    """The same with a line twice as long."""
    yield from drain_beside(rivals, replace(sizes, crowd=2 * sizes.crowd))


def _lap(short: Racer, long: Racer, jobs: int) -> tuple[float, float]:
    starts = short.handled, long.handled
    for handled in range(min(BLOCK, jobs), jobs + 1, BLOCK):
        short.run(starts[0] + handled)
        long.run(starts[1] + handled)
    rates = short.lap(), long.lap()
    short.fill(jobs)
    long.fill(jobs)
    return rates


def _one_by_one(contender: Contender, payloads: Sequence[Payload]) -> None:
    push: Callable[[Payload], None] = contender.push
    for one in payloads:
        push(one)


def _racer(
    stack: ExitStack, rivals: Rivals, jobs: int, kind: type[Contender], workers: int
) -> Racer:
    stand: Any = stack.enter_context(stand_for(kind, home=rivals.home))
    stand.fill(jobs)
    return Racer(stand, stack.enter_context(stand.crew(workers)))


def _room(rivals: Rivals, jobs: int) -> bool:
    seen = os.statvfs(rivals.folder)
    inodes = not seen.f_files or seen.f_favail > 3 * jobs
    return inodes and seen.f_bavail * seen.f_frsize > BYTES * jobs
