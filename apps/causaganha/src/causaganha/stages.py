"""The four stages of the pipeline. Each may be run again at any point with the same result."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from causaganha.archive import InternetArchive, metadata_of
from causaganha.database import now
from causaganha.decision import Decision, InvalidDecision
from causaganha.edition import Edition  # noqa: TC001 - the engine reads it
from causaganha.gemini import BadAnswer, Gemini
from causaganha.handoff import Archived, Extraction, Pdf, RatedEdition
from causaganha.pdf import Chunk, InvalidPdf, Pages, check_pdf
from causaganha.ratings import TrueSkillRatingSystem
from causaganha.records import change_pdf, record_pdf, store_decisions
from causaganha.tjro import Tjro
from ferryman import Fail, Job, Snooze

if TYPE_CHECKING:
    from collections.abc import Callable

    from causaganha.database import CausaGanhaDB
    from causaganha.download import Download
    from causaganha.settings import Settings
    from ferryman import Rate

ANSWERS: Final = 2
"""How many answers a chunk may cost: Gemini is expensive."""
CATALOGUE: Final = 60.0
"""Seconds until the archive is asked again for what it has not catalogued yet."""

_log = logging.getLogger("causaganha")


class Stages:
    """The handlers, with the services they use."""

    def __init__(
        self, settings: Settings, db: CausaGanhaDB, *, tjro_rate: Rate, gemini_rate: Rate
    ) -> None:
        self._data = Path(settings.data).resolve()
        self._db = db
        self._archive = InternetArchive(
            settings.archive, settings.archive_s3, settings.ia_access_key, settings.ia_secret_key
        )
        self._gemini = Gemini(
            settings.gemini, settings.gemini_key, settings.gemini_model, gemini_rate
        )
        self.tjro = Tjro(settings.tjro, tjro_rate)

    def discovery(self, edition: Edition, job: Job) -> Pdf:
        """Download an edition."""
        got = self._from_the_court(edition, self._data / edition.path)
        with self._db.writing() as connection:
            pdf_id = record_pdf(
                connection,
                edition,
                local_path=str(got.path),
                file_size=got.size,
                sha256_hash=got.sha256,
                download_duration_ms=got.milliseconds,
                discovery_queue_id=job.seq,
            )
        return Pdf(pdf_id=pdf_id, local_path=str(got.path), sha256=got.sha256, edition=edition)

    def archive(self, pdf: Pdf, job: Job) -> Archived:
        """Keep an edition's file in the Internet Archive, once."""
        path = self._file(pdf, partial(self._from_the_court, pdf.edition))
        item = pdf.edition.archive_id

        def upload() -> bool:
            # A worker that died may have uploaded it already.
            new = not self._archive.holds(item, path)
            if new:
                self._archive.upload(item, path, metadata_of(pdf.edition, pdf.sha256))
            else:
                _log.info("the archive has %s already: %s", item, self._archive.url(item))
            return new

        job.step("upload", upload)
        if not self._archive.holds(item, path):
            raise Snooze(CATALOGUE, f"the archive has not catalogued {item} yet")
        url = self._archive.url(item)
        with self._db.writing() as connection:
            change_pdf(connection, pdf.pdf_id, ia_url=url)
        return Archived(**pdf.model_dump(), ia_url=url)

    def extraction(self, pdf: Archived, job: Job) -> Extraction | None:
        """Read an edition's decisions, a chunk at a time; None, and the end of it, without any."""
        path = self._file(pdf, partial(self._archive.download, pdf.edition.archive_id))
        pages = Pages(path)
        chunks = pages.chunks()
        answers: list[Any] = []
        for chunk in chunks:
            answers += job.step(f"chunk {chunk.number}", partial(self._ask, job, pages, chunk))
            job.progress(100 * chunk.number / len(chunks), f"{chunk.name} of {chunks[-1].last}")
        found, set_aside = _sorted_out(answers, job)
        with self._db.writing() as connection:
            stored = store_decisions(connection, pdf.pdf_id, found)
            ended = {} if stored else {"finished_at": now()}
            change_pdf(connection, pdf.pdf_id, decisions_found=stored, **ended)
        if not stored:
            _log.warning("no decisions in edition %s", pdf.edition.label)
            return None
        return Extraction(
            pdf_id=pdf.pdf_id,
            file_name_source=path.name,
            extraction_timestamp=now(),
            chunks_processed=len(chunks),
            total_decisions_found=stored,
            decisions=found,
            set_aside=set_aside,
        )

    def ratings(self, extraction: Extraction) -> RatedEdition:
        """Count an edition's decisions in the ratings."""
        with self._db.writing() as connection:
            rated = TrueSkillRatingSystem(connection).rate_edition(extraction.pdf_id)
            change_pdf(connection, extraction.pdf_id, finished_at=now())
        return RatedEdition(
            pdf_id=extraction.pdf_id,
            decisions_processed=rated.decisions_processed,
            ratings_updated=rated.ratings_updated,
        )

    def close(self) -> None:
        """Free the connections."""
        for service in (self.tjro, self._archive, self._gemini):
            service.close()

    def _from_the_court(self, edition: Edition, path: Path) -> Download:
        got = self.tjro.download(edition, path)
        try:
            check_pdf(got.path)
        except InvalidPdf:
            got.path.unlink(missing_ok=True)
            raise
        return got

    def _file(self, pdf: Pdf, bring: Callable[[Path], Download]) -> Path:
        """The edition's file; brought here again if it was another machine that downloaded it."""
        first, path = Path(pdf.local_path), self._data / pdf.edition.path
        if first.exists():
            return first
        if not path.exists() and (sha256 := bring(path).sha256) != pdf.sha256:
            path.unlink()
            raise FileNotFoundError(
                f"PDF file not found: {first} (edition {pdf.edition.label}), and what is offered "
                f"in its place is another file (SHA-256 {sha256}): put the first one there"
            )
        return path

    def _ask(self, job: Job, pages: Pages, chunk: Chunk) -> list[Any]:
        text = pages.text(chunk)
        # Kept with the job: another worker goes on counting where this one died. An operator's
        # retry is a new generation, and a new budget.
        bad: dict[str, int] = dict(job.checkpoint() or {})
        budget = f"{chunk.name}, {job.generation}"
        while bad.get(budget, 0) < ANSWERS:
            try:
                return self._gemini.decisions(text)
            except BadAnswer as error:
                bad[budget] = bad.get(budget, 0) + 1
                job.checkpoint(bad)
                job.log(f"{chunk.name}: {error}")
        raise Fail(f"{chunk.name}: {ANSWERS} answers of Gemini were of no use; see the job's log")


def _sorted_out(answers: list[Any], job: Job) -> tuple[list[Decision], list[str]]:
    found, set_aside = [], []
    for answer in answers:
        try:
            found.append(Decision.of(answer))
        except InvalidDecision as error:
            set_aside.append(str(error))
            job.log(f"set aside: {error}")
            _log.warning("set aside in job %s: %s", job.id, error)
    return found, set_aside
