"""The names of the plan, as thin faces of the application."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from ferryman import Filter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from causaganha.app import CausaGanha


@dataclass(frozen=True, slots=True)
class QueueItem:
    """A job as the plan sees it; `metadata` is its payload."""

    id: int
    status: str
    attempts: int
    last_attempt: datetime | None
    error_message: str | None
    metadata: dict[str, Any]


class QueueProcessor:
    """One stage. States, attempts and retries are the engine's: nobody else sets them."""

    stage: ClassVar[str]

    def __init__(self, app: CausaGanha) -> None:
        self.app = app
        self.logger = logging.getLogger(type(self).__name__)

    def run_batch(self, batch_size: int = 10) -> Mapping[str, int]:
        """Run some items here: how many were processed, succeeded, failed."""
        results = self.app.process(self.stage, batch_size)
        self.logger.info("%s: %s", self.stage, results)
        return results

    def get_pending_items(self, limit: int = 10) -> Sequence[QueueItem]:
        """Some of what waits, newest first."""
        where = Filter.parse(f"queue:{self.stage} task:{self.stage} state:pending")
        jobs = self.app.ferry.backend.list(where, limit=limit).jobs
        return [
            QueueItem(
                id=job.seq,
                status=job.state,
                attempts=job.attempts,
                last_attempt=None
                if job.started_at is None
                else datetime.fromtimestamp(job.started_at, UTC),
                error_message=job.error,
                metadata=job.payload,
            )
            for job in jobs
        ]


class PDFDiscoveryProcessor(QueueProcessor):
    """Finds editions, and downloads them."""

    stage = "discovery"

    def discover_pdfs_for_year(self, year: int) -> int:
        """Queue the editions of a year that are new; how many."""
        return self._told(self.app.discover_year(year))

    def discover_latest_pdfs(self) -> int:
        """Queue the newest editions, before all others; how many are new."""
        return self._told(self.app.discover_latest())

    def _told(self, count: int) -> int:
        self.logger.info("%d new editions", count)
        return count


class PDFArchiveProcessor(QueueProcessor):
    """Keeps files in the Internet Archive."""

    stage = "archive"


class PDFExtractionProcessor(QueueProcessor):
    """Has Gemini read decisions."""

    stage = "extraction"


class RatingProcessingProcessor(QueueProcessor):
    """Plays decisions as matches."""

    stage = "ratings"


PROCESSORS: tuple[type[QueueProcessor], ...] = (
    PDFDiscoveryProcessor,
    PDFArchiveProcessor,
    PDFExtractionProcessor,
    RatingProcessingProcessor,
)
