"""What is measured: each workload yields the pairs of one run, ours right after the raw loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from bench import gates, measure
from bench.contender import payload
from bench.result import Pair
from bench.stand import stand_for
from ferryman.backends.mounts import mount_type

if TYPE_CHECKING:
    from bench.contender import Cycling
    from bench.ours import Ours
    from bench.stand import Stand

LOW = 1_000
POLLED = 10


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many jobs each workload takes."""

    push: int = 3_000
    push_many: int = 20_000
    cycle: int = 20_000
    drain: int = 20_000
    idle: int = 100
    backlog: int = 100_000
    polls: int = 50
    by_turns: int = 3_000
    crowd: int = 500_000
    verbs: int = 500
    cloud: int = 6_000
    held: float = 1.0
    """The share of its usual length that a transaction is held for."""
    finished: int = 10_000_000
    waiting: int = 1_000_000
    rounds: int = 40
    tab_seconds: float = 60.0
    read_seconds: float = 30.0

    @classmethod
    def all(cls, jobs: int) -> Sizes:
        """The same small number everywhere: enough to see that it runs."""
        few = min(jobs, 5)
        return cls(
            jobs,
            jobs,
            jobs,
            jobs,
            few,
            jobs,
            few,
            jobs,
            jobs,
            jobs,
            jobs,
            held=jobs / 10_000,
            finished=10 * jobs,
            waiting=jobs,
            rounds=2,
            tab_seconds=1.0,
            read_seconds=1.0,
        )


@dataclass(frozen=True, slots=True)
class Rivals:
    """Ours and the raw loop on the same store, below `home`: None is the current folder.

    `on_files`: their figures are named by the file system, otherwise by the `label`, if they have
    one. `server` serves both while it is open.
    """

    ours: type[Ours]
    raw: type[Cycling]
    home: Path | None = None
    on_files: bool = False
    label: str = ""
    server: Callable[[], AbstractContextManager[None]] = nullcontext

    @property
    def folder(self) -> Path:
        return self.home or Path.cwd()

    def name(self, workload: str) -> str:
        label = _file_system(self.folder) if self.on_files else self.label
        return f"{label}: {workload}" if label else workload

    @contextmanager
    def stands(self) -> Iterator[tuple[Stand[Cycling], Stand[Ours]]]:
        """The raw loop and ours, side by side."""
        with (
            stand_for(self.raw, home=self.home) as raw,
            stand_for(self.ours, home=self.home) as ours,
        ):
            yield raw, ours


def _file_system(folder: Path) -> str:
    mounts = Path("/proc/mounts")
    text = mounts.read_text() if mounts.exists() else ""
    return mount_type(folder, text) or "disk"


Workload = Callable[[Rivals, Sizes], Iterator[Sequence[Pair]]]
"""Endless: one item a run, and what is held between runs is freed when it is closed."""


def push(rivals: Rivals, sizes: Sizes) -> Iterator[Sequence[Pair]]:
    while True:
        raw = measure.push(rivals.raw, sizes.push)
        yield [Pair(gates.PUSH, measure.push(rivals.ours, sizes.push), raw)]


def push_many(rivals: Rivals, sizes: Sizes) -> Iterator[Sequence[Pair]]:
    while True:
        raw = measure.push_many(rivals.raw, sizes.push_many)
        yield [Pair(gates.PUSH_MANY, measure.push_many(rivals.ours, sizes.push_many), raw)]


def cycle(rivals: Rivals, sizes: Sizes) -> Iterator[Sequence[Pair]]:
    while True:
        raw = measure.cycle(rivals.raw, sizes.cycle, rivals.home)
        ours = measure.cycle(rivals.ours, sizes.cycle, rivals.home)
        yield [Pair(rivals.name(gates.CYCLE), ours, raw)]


def drain(rivals: Rivals, sizes: Sizes) -> Iterator[Sequence[Pair]]:
    """By one worker, by two, and the second compared with the first."""
    while True:
        raw = measure.drain(rivals.raw, sizes.drain, 1)
        one = measure.drain(rivals.ours, sizes.drain, 1)
        two = measure.drain(rivals.ours, sizes.drain, 2)
        raw_by_two = measure.drain(rivals.raw, sizes.drain, 2)
        yield [
            Pair(gates.DRAIN, one, raw),
            Pair(gates.DRAIN_BY_TWO, two, raw_by_two),
            Pair(gates.TWO_TO_ONE, two, one),
        ]


def idle(rivals: Rivals, sizes: Sizes) -> Iterator[Sequence[Pair]]:
    while True:
        raw_p50, raw_p99 = measure.idle(rivals.raw, sizes.idle, rivals.home)
        p50, p99 = measure.idle(rivals.ours, sizes.idle, rivals.home)
        yield [
            Pair(rivals.name(gates.IDLE_P50), p50, raw_p50),
            Pair(rivals.name(gates.IDLE_P99), p99, raw_p99),
        ]


def backlog(rivals: Rivals, sizes: Sizes) -> Iterator[Sequence[Pair]]:
    """A claim beside many waiting jobs, compared with the same claim beside few."""
    with stand_for(rivals.ours) as low, stand_for(rivals.ours) as high:
        low.fill(LOW)
        high.fill(sizes.backlog)
        _polls(low, high, 2)
        while True:
            few, many = _polls(low, high, sizes.polls)
            yield [Pair(gates.backlog(sizes.backlog), many, few)]


def _polls(low: Stand[Ours], high: Stand[Ours], times: int) -> tuple[float, float]:
    """Milliseconds of a claim at both levels, which stay as they are."""
    timed = [(_poll(low.contender), _poll(high.contender)) for _ in range(times)]
    few, many = zip(*timed, strict=True)
    return median(few) * 1_000, median(many) * 1_000


def _poll(ours: Ours) -> float:
    claimed, seconds = ours.finish(POLLED)
    if claimed != POLLED:
        raise RuntimeError(f"a poll of {POLLED} claimed {claimed} jobs")
    ours.push_many([payload(number) for number in range(POLLED)])
    return seconds
