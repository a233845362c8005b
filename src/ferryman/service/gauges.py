"""What a store holds, as Prometheus gauges, looked up at each scrape. Needs `ferryman[web]`."""

from __future__ import annotations

import threading
import time
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from ferryman.errors import BackendError
from ferryman.flow.circuit import Phase
from ferryman.job import State
from ferryman.service.insights import Insights
from ferryman.telemetry.metrics import MOST_NAMES, Labels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ferryman.queue.contract import Backend
    from ferryman.service.insights import Overview
    from ferryman.service.limits import BreakerRow
    from ferryman.service.workers import WorkerRow

FRESH: Final = 1.0
"""Seconds for which one look at the store serves all who scrape."""


class StoreGauges(Collector):
    """A store that does not answer has `ferryman_store_up` 0 and no counts: it is not empty."""

    def __init__(self, backend: Backend, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._backend = backend
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._seen: Sequence[GaugeMetricFamily] = ()
        self._until = 0.0
        self._queues = Labels(MOST_NAMES)
        self._breakers = Labels(MOST_NAMES)

    def collect(self) -> Iterable[GaugeMetricFamily]:
        with self._lock:
            now = self._monotonic()
            if not self._seen or now >= self._until:
                self._seen = self._look()
                self._until = self._monotonic() + FRESH
            return self._seen

    def _look(self) -> Sequence[GaugeMetricFamily]:
        backend = self._backend
        build = _Gauge("build_info", "The version that runs here.", "version", "backend")
        build.add((version("ferryman"), backend.capabilities.backend), 1)
        up = _Gauge("store_up", "Whether the store answered when this was scraped.")
        insights = Insights(backend)
        try:
            seen = insights.overview()
            breakers = insights.breakers() if backend.capabilities.cells else ()
        except BackendError:
            up.add((), 0)
            return [build.family(), up.family()]
        up.add((), 1)
        gauges = [build, up, *self._of_queues(seen), *_of_workers(seen, self._queues)]
        return [gauge.family() for gauge in [*gauges, self._of_breakers(breakers)]]

    def _of_queues(self, seen: Overview) -> Sequence[_Gauge]:
        jobs = _Gauge("jobs", "Jobs in the store.", "queue", "state")
        ready = _Gauge("jobs_ready", "Pending jobs that are due.", "queue")
        oldest = _Gauge(
            "queue_oldest_ready_seconds", "For how long the oldest ready job is due.", "queue"
        )
        paused = _Gauge("queue_paused", "Whether claims from the queue are stopped.", "queue")
        aside = _Gauge("jobs_set_aside", "Jobs that could not be used.", "queue")
        for counts in seen.queues:
            queue = self._queues(counts.queue)
            for state in State:
                jobs.add((*queue, str(state)), counts.states.get(state, 0))
            ready.add(queue, counts.ready)
            paused.most(queue, counts.paused)
            if counts.oldest_ready is not None or not counts.ready:
                oldest.most(queue, counts.oldest_ready or 0.0)
        for trouble in seen.troubles:
            aside.add(self._queues(trouble.queue), 1)
        return [jobs, ready, oldest, paused, aside]

    def _of_breakers(self, rows: Sequence[BreakerRow]) -> _Gauge:
        gauge = _Gauge("breaker_state", "1 for the state that a breaker is in.", "breaker", "state")
        for row in rows:
            for phase in Phase:
                gauge.most((*self._breakers(row.name), str(phase)), phase is row.phase)
        return gauge


def _of_workers(seen: Overview, queues: Labels) -> Sequence[_Gauge]:
    """Nothing where the backend keeps no rows about workers."""
    workers = _Gauge("workers", "Workers that show themselves, and stale ones.", "state")
    slots = _Gauge("worker_slots", "Slots of live workers.", "state")
    of_queue = _Gauge("queue_slots", "Slots of live workers for a queue.", "queue")
    if seen.workers is None:
        return []
    for state in ("live", "stale"):
        workers.add((state,), sum(row.stale is (state == "stale") for row in seen.workers))
    for counts in seen.queues:
        of_queue.add(queues(counts.queue), 0)
    live = [row for row in seen.workers if not row.stale]
    for row in live:
        for queue, count in row.queues.items():
            of_queue.add(queues(queue), count)
    busy = sum(row.running or 0 for row in live)
    slots.add(("busy",), busy)
    slots.add(("free",), max(0, sum(sum(row.queues.values()) for row in live) - busy))
    return [workers, slots, of_queue, *_of_ties(live[:MOST_NAMES])]


def _of_ties(live: Sequence[WorkerRow]) -> Sequence[_Gauge]:
    """How each of some workers stands to the store."""
    skew = _Gauge(
        "clock_skew_seconds", "By how much the store's clock is ahead of a worker's.", "worker"
    )
    hears = _Gauge("listener_connected", "Whether a worker is told of pushes.", "worker")
    for row in live:
        if row.skew is not None:
            skew.add((row.id,), row.skew)
        if row.hears is not None:
            hears.add((row.id,), row.hears)
    return [skew, hears]


class _Gauge:
    """The values of one gauge by their labels; names beyond the most add up."""

    def __init__(self, name: str, text: str, *labels: str) -> None:
        self._name = f"ferryman_{name}"
        self._text = text
        self._labels = labels
        self._values: dict[tuple[str, ...], float] = {}

    def add(self, labels: tuple[str, ...], value: float) -> None:
        self._values[labels] = self._values.get(labels, 0.0) + value

    def most(self, labels: tuple[str, ...], value: float) -> None:
        self._values[labels] = max(self._values.get(labels, 0.0), float(value))

    def family(self) -> GaugeMetricFamily:
        family = GaugeMetricFamily(self._name, self._text, labels=self._labels)
        for labels, value in self._values.items():
            family.add_metric(labels, value)
        return family
