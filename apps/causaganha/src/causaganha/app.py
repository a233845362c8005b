"""CausaGanha as one thing: its stages on a Ferry, its tables, and what can be asked of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

import httpx2

from causaganha.archive import UploadRefused
from causaganha.database import CausaGanhaDB
from causaganha.gemini import GeminiDown, GeminiRefused, QuotaSpent
from causaganha.log import log_jobs
from causaganha.records import finished_urls
from causaganha.stages import Stages
from causaganha.views import VIEWS
from ferryman import Conflict, Fail, Ferry, Retry, State, Unsupported, Worker
from ferryman import Settings as WorkerSettings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

    from causaganha.edition import Edition
    from causaganha.settings import Settings
    from ferryman import Clock, Run

SLOTS: Final = {"discovery": 3, "archive": 2, "extraction": 1, "ratings": 1}
"""The stages in their order, and how many of each a worker runs at once.

One extraction: a worker that dies costs at most one answer of Gemini."""
LATEST: Final = 10
"""The priority of the newest editions."""


class CausaGanha:
    """The application on one database and one store of jobs."""

    def __init__(self, settings: Settings, *, clock: Clock | None = None) -> None:
        self.settings = settings
        self.db = CausaGanhaDB(settings.database)
        self.ferry = Ferry(settings.queue_url, clock=clock, lease=settings.lease)
        log_jobs(self.ferry)
        self._declare_limits()
        tjro, gemini = self.ferry.rate("tjro"), self.ferry.rate("gemini")
        self.stages = Stages(settings, self.db, tjro_rate=tjro, gemini_rate=gemini)
        self._declare_stages()
        self._viewed = False

    # -- discovery

    def discover_year(self, year: int) -> int:
        """Queue the editions of a year that are new; how many."""
        return self._discover(self.editions_of(year))

    def editions_of(self, year: int) -> Sequence[Edition]:
        """What the court lists for a year, oldest first."""
        return self.stages.tjro.year(year)

    def discover_latest(self) -> int:
        """Queue the newest editions, before all others; how many are new."""
        return self._discover(self.stages.tjro.latest(), priority=LATEST)

    def start(self, edition: Edition, priority: int = 0) -> Run | None:
        """Queue one edition; its run, new or not. None: its job was another description of it."""
        self._make_views()
        try:
            return self.pipeline.using(id=edition.id, priority=priority).push(edition)
        except Conflict:
            return None

    def _discover(self, editions: Sequence[Edition], priority: int = 0) -> int:
        with self.db.reading() as connection:
            known = set(finished_urls(connection))
        # Oldest first, so that ratings have little to play again.
        runs = [self.start(each, priority) for each in editions if each.url not in known]
        return sum(run is not None and run.created for run in runs)

    # -- work

    def process(self, stage: str, batch_size: int = 10) -> Mapping[str, int]:
        """Run some due jobs of a stage here: how many were processed, succeeded, failed."""
        self._make_views()
        return self.ferry.run_batch(batch_size, stage=stage)

    def worker(self) -> Worker:
        """A worker for all stages at once."""
        self._make_views()
        return self.ferry.worker(SLOTS, WorkerSettings(lease=self.settings.lease))

    def status(self) -> Mapping[str, Mapping[str, int]]:
        """How many jobs of each stage are in which state."""
        snapshot = self.ferry.backend.snapshot()
        states = {name: snapshot.queues.get(name) for name in SLOTS}
        return {
            name: {str(each): counts.states[each] for each in State if counts.states.get(each)}
            if counts is not None
            else {}
            for name, counts in states.items()
        }

    def close(self) -> None:
        """Free all connections."""
        self.stages.close()
        self.ferry.close()
        self.db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # -- declaring

    def _declare_limits(self) -> None:
        settings, ferry = self.settings, self.ferry
        ferry.rate("tjro", settings.tjro_quotas.split(","))
        # Google's day ends at midnight in California.
        ferry.rate("gemini", settings.gemini_quotas.split(","), zone="America/Los_Angeles")
        for queue in ("archive", "extraction", "ratings"):
            ferry.limit(queue, capacity=settings.ahead)
        failures: dict[str, tuple[type[BaseException], ...]] = {
            "tjro": (httpx2.HTTPError,),
            "archive.org": (httpx2.HTTPError,),
            "gemini": (GeminiDown, QuotaSpent),
        }
        for name, kinds in failures.items():
            ferry.breaker(name, cooldown=settings.cooldown, failures=kinds)

    def _declare_stages(self) -> None:
        stages, task = self.stages, self.ferry.task
        retry = Retry(
            self.settings.max_attempts,
            base=self.settings.backoff,
            cap=600.0,
            rules={UploadRefused: Fail, GeminiRefused: Fail},
        )
        discovery = task(
            name="discovery",
            queue="discovery",
            retry=retry,
            needs=["tjro"],
            concurrency=3,
            timeout=300.0,
        )(stages.discovery)
        archive = task(
            name="archive",
            queue="archive",
            retry=retry,
            needs=["archive.org"],
            concurrency=2,
            timeout=600.0,
        )(stages.archive)
        extraction = task(
            name="extraction",
            queue="extraction",
            retry=retry,
            needs=["gemini"],
            timeout=3600.0,
        )(stages.extraction)
        ratings = task(name="ratings", queue="ratings", retry=retry)(stages.ratings)
        route = discovery >> archive >> extraction >> ratings
        self.pipeline = self.ferry.pipeline("gazette", route)

    def _make_views(self) -> None:
        """Show the queues as the tables of the plan, where the store is a database."""
        if self._viewed:
            return
        self._viewed = True
        try:
            for name, (queue, columns) in VIEWS.items():
                self.ferry.view(name, queue, columns)
        except Unsupported:
            pass
