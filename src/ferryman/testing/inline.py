"""Run jobs here and now, without threads, and look at what was pushed."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

from ferryman.filter import Filter, Term
from ferryman.worker.executor import Executor
from ferryman.worker.leases import LeaseKeeper

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ferryman.ferry import Ferry
    from ferryman.job import Job, State
    from ferryman.tasks.task import Task
    from ferryman.worker.claim import Claim

_MISSING = object()


def drain(
    ferry: Ferry, queues: Collection[str] | None = None, *, limit: int = 1_000
) -> Counter[State]:
    """Run due jobs one after another in this thread until none is due; ends counted by state.

    Jobs that handlers push are run too. Retries and delays wait for the clock: advance a
    `FakeClock` and drain again. Limits (`needs`, `rate`, `concurrency`) do not hold here. At most
    `limit` rounds, so that an endless chain fails loudly.
    """
    wanted = queues or {task.options.queue for task in ferry.tasks}
    keeper = LeaseKeeper(
        ferry.backend, "drain", lease=ferry.lease, events=ferry.events, died=_never
    )
    executor = Executor(ferry.tasks, keeper.worker)
    ends: Counter[State] = Counter()
    for _ in range(limit):
        claims = [claim for queue in sorted(wanted) for claim in keeper.poll({queue: 1})]
        if not claims:
            return ends
        for claim in claims:
            receipt = ferry.backend.settle([_run(executor, claim)])[0]
            keeper.drop([claim])
            if receipt.state is not None:
                ends[receipt.state] += 1
    raise AssertionError(f"still not drained after {limit} rounds: {dict(ends)}")


def assert_pushed(ferry: Ferry, task: str, payload: Any = _MISSING, **fields: Any) -> Job:
    """The newest job of this task with that payload and those fields, or an AssertionError
    that lists what was pushed instead."""
    seen = []
    for job in _jobs(ferry, task):
        if (payload is _MISSING or job.payload == payload) and all(
            getattr(job, name) == value for name, value in fields.items()
        ):
            return job
        seen.append(f"  {job.payload!r} on {job.queue!r}, {job.state}, priority {job.priority}")
    wanted = "" if payload is _MISSING else f" with {payload!r}"
    raise AssertionError(
        f"no job of task {task!r}{wanted} {fields or ''} was pushed; there are {len(seen)}:\n"
        + "\n".join(seen[:20])
    )


def _jobs(ferry: Ferry, task: str) -> Iterator[Job]:
    where, after = Filter((Term("task", "is", (task,)),)), None
    while True:
        page = ferry.backend.list(where, limit=100, after=after)
        yield from page.jobs
        if page.next is None:
            return
        after = page.next


def _run(executor: Executor, claim: Claim) -> Any:
    task = executor.task_of(claim)
    if task is None:
        return executor.unknown(claim)
    if task.limits.batch is not None:
        return _run_alone(executor, claim, task)
    if task.is_async:
        return asyncio.run(executor.run_async(claim, task))
    return executor.run(claim, task)


def _run_alone(executor: Executor, claim: Claim, task: Task[..., Any]) -> Any:
    if task.is_async:
        return asyncio.run(executor.run_batch_async([claim], task))[0]
    return executor.run_batch([claim], task)[0]


def _never(name: str, error: BaseException) -> None:
    raise AssertionError(f"the {name} loop does not run during a drain") from error
