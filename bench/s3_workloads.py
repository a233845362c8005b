"""What is measured on S3: each verb by a hundred beside as many conditional PUTs, and its price."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final, cast

from bench import gates
from bench.contender import BATCH, payload
from bench.result import Pair
from bench.turns import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bench.ours import OursOnS3
    from bench.raw_s3 import RawS3
    from bench.workloads import Rivals, Sizes

PRICES: Final = {"put": 5.0, "list": 5.0, "get": 0.4, "delete": 0.0}
"""US dollars for a million requests of each kind: AWS's list price, S3 Standard, us-east-1."""


def verbs(rivals: Rivals, sizes: Sizes) -> Iterator[Sequence[Pair]]:
    """Push, claim and settle by turns with the raw loop, and how many requests they take."""
    while True:
        with rivals.stands() as (raw, ours):
            contest = Verbs(cast("RawS3", raw.contender), cast("OursOnS3", ours.contender))
            for start in range(0, sizes.verbs, BATCH):
                contest.run(min(BATCH, sizes.verbs - start))
            yield contest.figures(sizes.verbs)


class Verbs:
    """Both sides' times and our requests, verb by verb."""

    def __init__(self, raw: RawS3, ours: OursOnS3) -> None:
        self._sides = (raw, ours)
        self._ours = ours
        self._tallies = {verb: (Tally(), Tally()) for verb in gates.VERBS}
        self._requests: dict[str, Counter[str]] = {verb: Counter() for verb in gates.VERBS}
        # What opening and the first job of a queue ask for is no price of the others.
        ours.push_many([payload(0)])
        ours.claim(1)
        ours.settle()

    def run(self, jobs: int) -> None:
        """One batch through all three."""
        payloads = [payload(number) for number in range(jobs)]
        self._turns("push", jobs, [partial(side.push_many, payloads) for side in self._sides])
        self._turns("claim", jobs, [partial(side.claim, jobs) for side in self._sides])
        self._turns("settle", jobs, [side.settle for side in self._sides])

    def figures(self, jobs: int) -> Sequence[Pair]:
        rates = [
            Pair(gates.by_a_hundred(verb), ours.rate, raw.rate)
            for verb, (raw, ours) in self._tallies.items()
        ]
        counts = [
            Pair(gates.requests(verb), counts.total() / jobs, None)
            for verb, counts in self._requests.items()
        ]
        dollars = sum(
            PRICES[kind] * number
            for counts in self._requests.values()
            for kind, number in counts.items()
        )
        return [*rates, *counts, Pair(gates.DOLLARS, dollars / jobs, None)]

    def _turns(self, verb: str, jobs: int, works: Sequence[Callable[[], int | None]]) -> None:
        before = Counter(self._ours.requests)
        for tally, work in zip(self._tallies[verb], works, strict=True):
            tally.add(jobs, work)
        if any(len(side.claimed) != (jobs if verb == "claim" else 0) for side in self._sides):
            raise RuntimeError(f"a {verb} of {jobs} jobs was not whole")
        self._requests[verb] += Counter(self._ours.requests) - before
