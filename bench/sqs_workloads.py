"""What is measured on SQS: push_many and drain beside a raw loop, and what a job asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench import gates, measure
from bench.result import Pair
from bench.sqs_server import counted
from bench.stand import stand_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.workloads import Rivals, Sizes


def batches(rivals: Rivals, sizes: Sizes) -> Iterator[Sequence[Pair]]:
    """A thousand a push, one worker."""
    while True:
        pushed = [measure.push_many(kind, sizes.cloud) for kind in (rivals.raw, rivals.ours)]
        drained = [measure.drain(kind, sizes.cloud, 1) for kind in (rivals.raw, rivals.ours)]
        yield [
            Pair(rivals.name(gates.PUSH_MANY), pushed[1], pushed[0]),
            Pair(rivals.name(gates.DRAIN), drained[1], drained[0]),
            Pair(rivals.name(gates.REQUESTS), _requests(rivals, sizes.cloud // 3 or 1), None),
        ]


def _requests(rivals: Rivals, jobs: int) -> float:
    """Requests a job from its push by a thousand until a worker has ended it."""
    with counted() as calls, stand_for(rivals.ours) as stand:
        stand.fill(jobs)
        with stand.crew(1) as crew:
            crew.go()
            measure.drained(stand, crew, jobs, None)
        return sum(calls.values()) / jobs
