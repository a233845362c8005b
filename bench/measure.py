"""One measurement of one contender: rates in jobs/s, delays in milliseconds."""

from __future__ import annotations

import math
import random
import time
from typing import TYPE_CHECKING, Any, Final

from bench.contender import BATCH, payload
from bench.stand import FILL, stand_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from bench.contender import Contender, Cycling
    from bench.crew import Crew
    from bench.stand import Stand

GIVE_UP: Final = 120.0
LOOK_EVERY: Final = 0.002
WARM_UP: Final = 5
GAPS: Final = (0.02, 0.15)
"""Seconds between pushes to an idle worker. By chance, or a worker's own rhythm would show; and
long enough that one which looks ever more rarely is caught at it."""


def push(kind: type[Contender], jobs: int, home: Path | None = None) -> float:
    """One producer, one job a call."""
    payloads = [payload(number) for number in range(jobs)]
    with stand_for(kind, home=home) as stand:
        add = stand.contender.push
        started = time.perf_counter()
        for one in payloads:
            add(one)
        return jobs / (time.perf_counter() - started)


def push_many(kind: type[Contender], jobs: int, home: Path | None = None) -> float:
    """One producer, a thousand jobs a call."""
    payloads = [payload(number) for number in range(jobs)]
    with stand_for(kind, home=home) as stand:
        started = time.perf_counter()
        for start in range(0, jobs, FILL):
            stand.contender.push_many(payloads[start : start + FILL])
        return jobs / (time.perf_counter() - started)


def cycle(kind: type[Cycling], jobs: int, home: Path | None = None) -> float:
    """The bare verbs by a hundred, without a worker: push, claim, finish."""
    with stand_for(kind, home=home) as stand:
        contender = stand.contender
        numbers = range(jobs)
        batches = [
            contender.prepare([payload(number) for number in numbers[start : start + BATCH]])
            for start in range(0, jobs, BATCH)
        ]
        started = time.perf_counter()
        done = sum(contender.cycle(batch) for batch in batches)
        seconds = time.perf_counter() - started
    if done != jobs:
        raise RuntimeError(f"{kind.__name__} finished {done} jobs of {jobs}")
    return jobs / seconds


def drain(
    kind: type[Contender],
    jobs: int,
    workers: int,
    limit: float | None = None,
    home: Path | None = None,
) -> float:
    """How fast workers empty a full queue.

    The clock runs from the first handled job that is seen until all are handled and the store says
    that nothing waits or is claimed. After `limit` seconds the rate so far counts.
    """
    with stand_for(kind, home=home) as stand:
        stand.fill(jobs)
        with stand.crew(workers) as crew:
            crew.go()
            return drained(stand, crew, jobs, limit)


def drained(stand: Stand[Any], crew: Crew, jobs: int, limit: float | None) -> float:
    going = time.perf_counter()
    wait_until(lambda: stand.marks.size() > 0, crew)
    first, seen = time.perf_counter(), stand.marks.size()
    until = math.inf if limit is None else first + limit
    wait_until(lambda: stand.marks.size() >= jobs or time.perf_counter() > until, crew)
    handled = min(stand.marks.size(), jobs)
    if handled == jobs:
        wait_until(lambda: stand.contender.unfinished() == 0, crew)
    ended = time.perf_counter()
    # A tiny load may be over at the first look.
    return (handled - seen) / (ended - first) if seen < jobs else jobs / (ended - going)


def idle(kind: type[Contender], jobs: int, home: Path | None = None) -> tuple[float, float]:
    """Milliseconds from just before a push to the start of its handler: median and 99th percent."""
    with stand_for(kind, "delay", home=home) as stand, stand.crew(1) as crew:
        crew.go()
        for number in range(WARM_UP + jobs):
            time.sleep(random.uniform(*GAPS))  # noqa: S311
            stand.contender.push(payload(number, time.time()))
            if number < WARM_UP:
                wait_until(lambda wanted=number + 1: len(stand.marks.delays()) >= wanted, crew)  # type: ignore[misc]
        wait_until(lambda: len(stand.marks.delays()) >= WARM_UP + jobs, crew)
        delays = stand.marks.delays()[WARM_UP:]
    return percentile(delays, 0.50) * 1_000, percentile(delays, 0.99) * 1_000


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def wait_until(done: Callable[[], bool], crew: Crew) -> None:
    """Look again and again until it is so, or a worker has died, or it takes too long."""
    deadline = time.monotonic() + GIVE_UP
    while not done():
        crew.check()
        if time.monotonic() > deadline:
            raise TimeoutError(f"a measurement did not end within {GIVE_UP:g} s\n{crew.said()}")
        time.sleep(LOOK_EVERY)
