"""Many at once: threads released by one barrier, and what each of them does to a store."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import chain, count
from threading import Barrier
from typing import TYPE_CHECKING, Any, TypeVar

from ferryman.testing.conformance.given import ack, beat, claims, nack, pushed, settle, several
from ferryman.testing.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ferryman.job import Job
    from ferryman.message import Message
    from ferryman.queue.answers import Pushed
    from ferryman.queue.contract import Backend
    from ferryman.queue.settlement import Settlement

T = TypeVar("T")

PATIENCE = 30.0


def together(*acts: Callable[[], Any]) -> list[Any]:
    """Run the acts at the same time, each in its own thread; their answers, in order."""
    start = Barrier(len(acts))

    def run(act: Callable[[], Any]) -> Any:
        start.wait(PATIENCE)
        return act()

    with _restless_threads(), ThreadPoolExecutor(len(acts)) as pool:
        futures = [pool.submit(run, act) for act in acts]
        return [future.result(PATIENCE) for future in futures]


def taking_turns(items: Iterable[T]) -> Iterator[T]:
    """The items, letting other threads run before each: nobody finishes before others began."""
    for item in items:
        time.sleep(0)
        yield item


@contextmanager
def _restless_threads() -> Iterator[None]:
    """A race that the default 5 ms between switches would hide shows up with 10 µs."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


# -- what they race for


def running(store: Backend, count: int, **options: Any) -> list[Job]:
    several(store, count, **options)
    return claims(store, count, lease=600)


def dead(store: Backend, count: int, **options: Any) -> list[Job]:
    """Claims whose lease has just expired and that nobody reaped yet."""
    several(store, count, **options)
    jobs = claims(store, count, lease=0.001)
    last = max(job.expires_at or 0.0 for job in jobs)
    wait_until(lambda: store.clock.now() > last, what="the leases to expire")
    return jobs


# -- what each thread does, one job at a time


def drain(store: Backend, worker: str, batch: int = 3) -> list[Job]:
    return list(chain(*repeated(partial(claims, store, batch, worker=worker, lease=600))))


def churn(store: Backend, worker: str, turns: int) -> list[tuple[str, int]]:
    """Claim and give back, push and finish: the claims that this thread had."""
    found: list[tuple[str, int]] = []
    for turn in taking_turns(range(turns)):
        jobs = claims(store, 2, worker=worker, lease=600)
        found += [(job.id, job.fence) for job in jobs]
        store.settle([nack(job, delay=0) for job in jobs[:1]])
        store.settle([ack(job) if turn % 9 == 0 else nack(job, delay=0) for job in jobs[1:]])
        pushed(store, turn)
    return found


def push_each(store: Backend, messages: Iterable[Message]) -> list[Pushed]:
    return [store.push([message])[0] for message in taking_turns(messages)]


def settle_each(store: Backend, endings: Iterable[Settlement]) -> list[bool]:
    return [settle(store, ending).applied for ending in taking_turns(endings)]


def beat_each(store: Backend, jobs: Iterable[Job]) -> list[bool]:
    return [beat(store, job, lease=600).held for job in taking_turns(jobs)]


def reap_all(store: Backend) -> list[str]:
    return [lease.id for lease in chain(*repeated(partial(store.reap, 5)))]


def repeated(act: Callable[[], Sequence[T]]) -> Iterator[Sequence[T]]:
    """What the act finds, again and again, until it finds nothing."""
    for _ in taking_turns(count()):
        found = act()
        if not found:
            return
        yield found
