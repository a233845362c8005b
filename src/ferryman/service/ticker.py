"""A store watched over time: its counts again and again, what has changed, and its outages."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ferryman.errors import BackendError, BackendUnavailable
from ferryman.job import State
from ferryman.service.insights import Insights
from ferryman.telemetry.escape import without_credentials

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ferryman.job import Job
    from ferryman.queue.answers import QueueCounts
    from ferryman.queue.contract import Backend
    from ferryman.service.insights import Overview

SHOWN: Final = 5

# A list is in push order, so the latest failures are looked for among a few more.
_LOOKED_AT: Final = 50


@dataclass(frozen=True, slots=True)
class Tick:
    """A store at one moment; during an outage, as it was last seen (None: never).

    `rates` are completions per second since the tick before, by queue; a queue is missing where
    that is not known. `failures` are the latest ends among the newest failed jobs. `outage` is what
    the store said instead of answering, `out_for` the seconds since it first did.
    """

    seen: Overview | None
    rates: Mapping[str, float]
    failures: Sequence[Job] = ()
    outage: str | None = None
    out_for: float = 0.0

    @property
    def rate(self) -> float | None:
        """Completions per second over all queues; None where it is not known of any."""
        return sum(self.rates.values()) if self.rates else None


class Ticker:
    """Looks at one store again and again, over outages and restarts of it."""

    def __init__(
        self, connect: Callable[[], Backend], monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._connect = connect
        self._monotonic = monotonic
        self._backend: Backend | None = None
        self._seen: Overview | None = None
        self._failures: Sequence[Job] = ()
        self._out_since: float | None = None

    def tick(self) -> Tick:
        """Look now. A store that refuses for good at the very first look raises."""
        try:
            before, self._seen = self._seen, self._look(self._seen)
        except BackendError as error:
            if self._seen is None and not isinstance(error, BackendUnavailable):
                raise
            return self._out(error)
        steady = self._out_since is None
        self._out_since = None
        return Tick(self._seen, _rates(before, self._seen) if steady else {}, self._failures)

    def close(self) -> None:
        """Free the store's connections; the next tick opens them again."""
        backend, self._backend = self._backend, None
        if backend is not None:
            backend.close()

    def _look(self, before: Overview | None) -> Overview:
        if self._backend is None:
            self._backend = self._connect()
        insights = Insights(self._backend)
        seen = insights.overview()
        # Dear to find under millions of completed jobs, and mostly there is no new one.
        if self._backend.capabilities.browse and (
            before is None or _failed(seen) != _failed(before)
        ):
            self._failures = _latest_failures(insights) if any(_failed(seen).values()) else ()
        return seen

    def _out(self, error: BackendError) -> Tick:
        if not isinstance(error, BackendUnavailable):
            # Replaced or restored meanwhile: the old connection would refuse for ever.
            self.close()
        now = self._monotonic()
        self._out_since = now if self._out_since is None else self._out_since
        return Tick(
            self._seen,
            {},
            self._failures,
            outage=without_credentials(str(error)),
            out_for=now - self._out_since,
        )


def _rates(before: Overview | None, now: Overview) -> Mapping[str, float]:
    if before is None or now.at <= before.at:
        return {}
    then = {queue.queue: _completed(queue) for queue in before.queues}
    grown = {queue.queue: _completed(queue) - then.get(queue.queue, 0) for queue in now.queues}
    # A count that fell was pruned or retried meanwhile, so the rate is not known.
    return {queue: count / (now.at - before.at) for queue, count in grown.items() if count >= 0}


def _completed(queue: QueueCounts) -> int:
    return queue.states.get(State.COMPLETED, 0)


def _failed(seen: Overview) -> Mapping[str, int]:
    return {queue.queue: queue.states.get(State.FAILED, 0) for queue in seen.queues}


def _latest_failures(insights: Insights) -> Sequence[Job]:
    jobs = insights.jobs("state:failed", limit=_LOOKED_AT).jobs
    return sorted(jobs, key=lambda job: job.finished_at or 0.0, reverse=True)[:SHOWN]
