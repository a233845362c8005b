"""Where the time of one job goes: `python -m bench.profile sqlite`.

The steps of a job run one after the other in one thread, so that each has a price of its own. A
sampling profiler would mostly show threads that wait for each other. The last lines put all of it
beside a whole worker: what is left over is hand-over between threads and waiting for locks.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from bench.calls import Calls
from bench.contender import QUEUE, payload
from bench.ours import LEASE, WORKER
from bench.programme import BACKENDS
from bench.stand import stand_for
from bench.statements import Statements
from ferryman.events import Events
from ferryman.worker.executor import Executor
from ferryman.worker.leases import LeaseKeeper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bench.ours import Ours
    from ferryman.message import Message
    from ferryman.queue.settlement import Settlement
    from ferryman.worker.claim import Claim

JOBS: Final = 10_000
SINGLE: Final = 500
ROUNDS: Final = 5
BATCHES: Final = (100, 500)


@dataclass(frozen=True, slots=True)
class Step:
    """One step's price; `path` steps are what every job of a drain pays."""

    name: str
    micros: float
    path: bool = False


def main(backend: str, jobs: int = JOBS, rounds: int = ROUNDS) -> None:
    """Each step at its best of a few rounds: what is slower was disturbed."""
    kind = BACKENDS[backend][0].rivals.ours
    statements = Statements()
    tries: list[list[Step]] = []
    for _ in range(rounds):
        with statements, stand_for(kind) as stand:
            tries.append(list(_steps(stand.contender, jobs, statements)))
    steps = [min(same, key=lambda step: step.micros) for same in zip(*tries, strict=True)]
    calls = min((Calls.of_a_drain(kind, jobs) for _ in range(rounds)), key=lambda c: c.micros)
    whole = calls.micros
    path = sum(step.micros for step in steps if step.path)
    _say(f"{backend}, {jobs:,} jobs, microseconds a job (* on the path of a drain)\n")
    for step in steps:
        _say(f"{'*' if step.path else ' '} {step.name:<44} {step.micros:>8.2f}")
    _say(f"\n  {'the steps of a drain':<44} {path:>8.2f}")
    _say(f"  {'a whole worker':<44} {whole:>8.2f}  {1e6 / whole:>9,.0f} jobs/s")
    for line in calls.lines():
        _say(line)
    for line in statements.lines():
        _say(line)


def _steps(ours: Ours, jobs: int, statements: Statements) -> Iterator[Step]:
    payloads = [payload(number) for number in range(jobs)]
    messages: list[Message] = []
    yield Step(
        "task.message: convert, check, encode",
        _micros(jobs, lambda: messages.extend(map(ours.task.message, payloads))),
    )
    with statements.of("push by 1,000", jobs):
        yield Step(
            "backend.push by 1,000",
            _micros(jobs, lambda: [ours.backend.push(b) for b in _by(messages, 1_000)]),
        )
    yield from _singles(ours)
    for size in BATCHES:
        jobs_now = jobs if size == BATCHES[-1] else jobs // 4
        yield from _claims(ours, jobs_now, size, statements)


def _singles(ours: Ours) -> Iterator[Step]:
    """What one job costs when nothing can be batched; takes out what it put in."""
    payloads = [payload(number) for number in range(SINGLE)]
    yield Step("task.push, one by one", _micros(SINGLE, lambda: list(map(ours.push, payloads))))
    yield Step(
        "poll of 1, settle of 1", _micros(SINGLE, lambda: [ours.finish(1) for _ in payloads])
    )
    yield Step("poll of an empty queue", _micros(SINGLE, lambda: _empty_polls(ours)))
    yield Step(
        "snapshot", _micros(SINGLE, lambda: [ours.backend.snapshot() for _ in range(SINGLE)])
    )


def _empty_polls(ours: Ours) -> None:
    for _ in range(SINGLE):
        ours.backend.poll(WORKER, {"empty": 1}, lease=LEASE)


def _claims(ours: Ours, jobs: int, size: int, statements: Statements) -> Iterator[Step]:
    """What a worker does for its jobs, without its threads."""
    ours.push_many([payload(number) for number in range(jobs)])
    keeper = LeaseKeeper(
        ours.backend, WORKER, lease=LEASE, events=Events(), died=lambda _name, _error: None
    )
    claims: list[Claim] = []
    settlements: list[Settlement] = []
    path = size == BATCHES[-1]
    with statements.of(f"poll by {size}", jobs):
        seconds = _micros(jobs, lambda: claims.extend(_poll_all(keeper, jobs, size)))
    yield Step(f"poll by {size}, and hold the claims", seconds, path)
    if path:
        yield Step("  (of the next: task.arguments)", _micros(jobs, lambda: _read(ours, claims)))
    seconds = _micros(jobs, lambda: settlements.extend(_run_all(ours, claims)))
    yield Step("executor.run: read, handle, say how it ended", seconds, path)
    with statements.of(f"settle by {size}", jobs):
        seconds = _micros(jobs, lambda: [ours.backend.settle(b) for b in _by(settlements, size)])
    yield Step(f"backend.settle by {size}", seconds, path)
    yield Step("drop the claims", _micros(jobs, lambda: keeper.drop(claims)), path)


def _poll_all(keeper: LeaseKeeper, jobs: int, size: int) -> Iterator[Claim]:
    for _ in range(0, jobs, size):
        yield from keeper.poll({QUEUE: size})


def _read(ours: Ours, claims: Sequence[Claim]) -> None:
    for claim in claims:
        ours.task.arguments(claim.job)


def _run_all(ours: Ours, claims: Sequence[Claim]) -> Iterator[Settlement]:
    executor = Executor(ours.ferry.tasks, WORKER)
    return (executor.run(claim, ours.task) for claim in claims)


def _by(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _micros(jobs: int, work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1e6 / jobs


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "sqlite")
