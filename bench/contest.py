"""Runs workloads one after the other, and puts the medians together."""

from __future__ import annotations

from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from bench.result import Result

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

    from bench.programme import Event
    from bench.result import Pair
    from bench.workloads import Sizes


class Watcher(Protocol):
    """Who is told how far the contest is."""

    def begin(self, name: str) -> None: ...

    def ran(self) -> None: ...

    def done(self) -> None: ...


def hold(events: Iterable[Event], sizes: Sizes, *, runs: int, watcher: Watcher) -> list[Result]:
    """Every event, `runs` times each."""
    results: list[Result] = []
    for event in events:
        watcher.begin(event.name)
        results += _results(event.backend, _pairs(event, sizes, runs, watcher))
        watcher.done()
    return results


def _pairs(event: Event, sizes: Sizes, runs: int, watcher: Watcher) -> Sequence[Sequence[Pair]]:
    taken = []
    with closing(_generator(event, sizes)) as pairs:
        for pair in islice(pairs, runs):
            taken.append(pair)
            watcher.ran()
    return taken


def _generator(event: Event, sizes: Sizes) -> Generator[Sequence[Pair], None, None]:
    with event.rivals.server():
        yield from event.workload(event.rivals, sizes)


def _results(backend: str, runs: Sequence[Sequence[Pair]]) -> list[Result]:
    return [Result.of(backend, same) for same in zip(*runs, strict=True)]
