"""Runs the workloads of the backends that are at hand, and puts the medians together."""

from __future__ import annotations

from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, Final, Protocol

from bench.ours import OursInMemory, OursOnSqlite
from bench.raw_memory import RawMemory
from bench.raw_sqlite import RawSqlite
from bench.result import Result
from bench.workloads import Rivals

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from bench.result import Pair
    from bench.workloads import Sizes, Workload

BACKENDS: Final[Mapping[str, Rivals]] = {
    "memory": Rivals(OursInMemory, RawMemory),
    "sqlite": Rivals(OursOnSqlite, RawSqlite),
}


class Watcher(Protocol):
    """Who is told how far the contest is."""

    def begin(self, backend: str, workload: str) -> None: ...

    def ran(self) -> None: ...

    def done(self) -> None: ...


def hold(
    backends: Sequence[str],
    workloads: Sequence[Workload],
    sizes: Sizes,
    *,
    runs: int,
    watcher: Watcher,
) -> list[Result]:
    """Every workload on every backend, `runs` times each."""
    results: list[Result] = []
    for backend in backends:
        for workload in workloads:
            watcher.begin(backend, workload.__name__)
            results += _results(backend, _pairs(backend, workload, sizes, runs, watcher))
            watcher.done()
    return results


def _pairs(
    backend: str, workload: Workload, sizes: Sizes, runs: int, watcher: Watcher
) -> Sequence[Sequence[Pair]]:
    taken = []
    with closing(_generator(workload, BACKENDS[backend], sizes)) as pairs:
        for pair in islice(pairs, runs):
            taken.append(pair)
            watcher.ran()
    return taken


def _generator(
    workload: Workload, rivals: Rivals, sizes: Sizes
) -> Generator[Sequence[Pair], None, None]:
    yield from workload(rivals, sizes)


def _results(backend: str, runs: Sequence[Sequence[Pair]]) -> list[Result]:
    return [Result.of(backend, same) for same in zip(*runs, strict=True)]
