"""What a process does, as Prometheus counters. Needs `ferryman[web]`.

Labels are queues, tasks, verbs and breakers: never a job, a tenant or the text of an error.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry, Counter, Histogram

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman.events import Event, Events
    from ferryman.job import Job

SHARED_DIR: Final = "PROMETHEUS_MULTIPROC_DIR"
"""The library's own variable: where it is set, processes count in files of that folder."""
OTHER: Final = "__other__"
"""The label of everything beyond the most names that a metric may have."""
MOST_TASKS: Final = 200
MOST_NAMES: Final = 100
SECONDS: Final = (0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600)

_FINISHED: Final = ("completed", "failed", "cancelled")


def count(events: Events, registry: CollectorRegistry | None = None) -> None:
    """Count the events of a process from now on: in its registry, or in the shared folder."""
    own = CollectorRegistry() if registry is None or SHARED_DIR in os.environ else registry
    WorkerMetrics(own).follow(events)


class Labels:
    """The first `most` labels that come; all later ones are `__other__`, so that a producer who
    makes up names cannot fill the memory of whoever scrapes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: set[tuple[str, ...]] = set()

    def __call__(self, *labels: str) -> tuple[str, ...]:
        if labels not in self._known:
            if len(self._known) >= self._most:
                return (OTHER,) * len(labels)
            self._known.add(labels)
        return labels


class WorkerMetrics:
    """Counts the events of a Ferry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(f"ferryman_{name}", text, labels, registry=registry)

        def times(name: str, text: str, *labels: str) -> Histogram:
            return Histogram(
                f"ferryman_{name}_seconds", text, labels, buckets=SECONDS, registry=registry
            )

        task = ("queue", "task")
        self._pushed = counter("jobs_pushed", "Jobs that this process pushed.", *task)
        self._finished = counter(
            "jobs_finished", "Jobs that ended: completed, failed or cancelled.", *task, "outcome"
        )
        self._failures = counter("failures", "Attempts that failed, retried or not.", *task)
        self._retries = counter("retries", "Failed attempts that will be tried again.", *task)
        self._returned = counter(
            "jobs_returned", "Claims given back: snoozed, drained, limited, unknown here.", *task
        )
        self._timeouts = counter("timeouts", "Attempts that ran over their timeout.", *task)
        self._wait = times("job_wait", "From when a job is due until it is claimed.", "queue")
        self._run = times("job_run", "How long attempts ran, however they ended.", *task)
        self._reaped = counter("reaped", "Expired leases of other workers, ended here.", "queue")
        self._expired = counter("expired", "Jobs whose deadline passed while they waited.", "queue")
        self._lost = counter("lease_lost", "Leases that were lost while their job ran.", "queue")
        self._stale = counter(
            "stale_ack_rejected", "Ends that the store refused: the lease was another's.", "queue"
        )
        self._errors = counter("backend_errors", "Calls to the store that failed.", "verb", "kind")
        self._breakers = counter("breaker_opened", "Times that a breaker opened.", "breaker")
        self._of_task = Labels(MOST_TASKS)
        self._of_queue = Labels(MOST_NAMES)
        self._of_error = Labels(MOST_NAMES)
        self._of_breaker = Labels(MOST_NAMES)

    def follow(self, events: Events) -> Callable[[], None]:
        """Begin to count; returns the way to stop it."""
        words: dict[str, Callable[[Event], None]] = {
            "job.pushed": self._job_pushed,
            "job.started": self._job_started,
            **{f"job.{outcome}": self._job_finished for outcome in _FINISHED},
            "job.retried": self._job_retried,
            "job.returned": self._job_returned,
            "job.timed_out": lambda event: self._timeouts.labels(*self._task(event["job"])).inc(),
            "job.reaped": self._job_reaped,
            "job.lost": lambda event: self._lost.labels(*self._queue(event["job"])).inc(),
            "job.stale": lambda event: self._stale.labels(*self._queue(event["job"])).inc(),
            "backend.call": self._backend_called,
            "breaker.opened": self._breaker_opened,
        }
        stops = [events.subscribe(name, word) for name, word in words.items()]

        def stop() -> None:
            for each in stops:
                each()

        return stop

    def _task(self, job: Job) -> tuple[str, ...]:
        return self._of_task(job.queue, job.task)

    def _queue(self, job: Job) -> tuple[str, ...]:
        return self._of_queue(job.queue)

    def _job_pushed(self, event: Event) -> None:
        if event["created"]:
            message = event["message"]
            self._pushed.labels(*self._of_task(message.queue, message.task)).inc()

    def _job_started(self, event: Event) -> None:
        job: Job = event["job"]
        waited = max(0.0, (job.started_at or job.ready_at) - job.ready_at)
        self._wait.labels(*self._queue(job)).observe(waited)

    def _job_finished(self, event: Event) -> None:
        outcome = event.name.removeprefix("job.")
        labels = self._task(event["job"])
        self._finished.labels(*labels, outcome).inc()
        self._run.labels(*labels).observe(event["seconds"])
        if outcome == "failed":
            self._failures.labels(*labels).inc()

    def _job_retried(self, event: Event) -> None:
        labels = self._task(event["job"])
        self._retries.labels(*labels).inc()
        self._failures.labels(*labels).inc()
        self._run.labels(*labels).observe(event["seconds"])

    def _job_returned(self, event: Event) -> None:
        self._returned.labels(*self._task(event["job"])).inc()

    def _job_reaped(self, event: Event) -> None:
        reaped = event["reaped"]
        counter = self._expired if reaped.worker is None else self._reaped
        counter.labels(*self._of_queue(reaped.queue)).inc()

    def _backend_called(self, event: Event) -> None:
        if event["error"] is not None:
            self._errors.labels(*self._of_error(event["verb"], event["error"])).inc()

    def _breaker_opened(self, event: Event) -> None:
        self._breakers.labels(*self._of_breaker(event["breaker"])).inc()
