"""Editions through all four stages, on every store."""

from __future__ import annotations

import hashlib
import io
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pypdf import PdfReader
from sqlalchemy import func, select, text

from causaganha.app import SLOTS, CausaGanha
from causaganha.ranking import as_csv, ranking
from causaganha.stand_ins.gazette import year_of
from causaganha.stand_ins.town import Town, town
from causaganha.tables import decisions, matches, pdfs
from causaganha.views import VIEWS
from ferryman import Filter
from ferryman.testing import wait_until

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferryman import Job


def finish(app: CausaGanha, count: int) -> None:
    """Work until the last stage has no more to do."""
    worker = app.worker()
    worker.start()
    try:
        wait_until(lambda: done(app) == count, timeout=50, what=f"{count} rated editions")
    finally:
        worker.join()


def done(app: CausaGanha) -> int:
    return app.status()["ratings"].get("completed", 0)


def rows(app: CausaGanha, table: Any) -> int:
    with app.db.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(table)).scalar_one())


def jobs(app: CausaGanha, where: str) -> Sequence[Job]:
    return app.ferry.backend.list(Filter.parse(where), limit=100).jobs


def run_all(folder: Path, stores: Mapping[str, Any], **options: Any) -> tuple[str, Town]:
    with town(folder, **stores, **options) as place, CausaGanha(place.settings) as app:
        assert app.discover_year(2025) == 7
        finish(app, 7)
        assert app.status() == {stage: {"completed": 7} for stage in SLOTS}
        assert rows(app, pdfs) == 7
        with app.db.reading() as connection:
            for pdf in connection.execute(select(pdfs)).mappings():
                assert pdf["finished_at"]
                assert pdf["ia_url"].endswith(pdf["archive_id"])
        assert set(place.archive.uploads.values()) == {1}
        assert len(place.archive.uploads) == 7
        return as_csv(ranking(app.db, least=1)), place


def test_every_edition_and_supplement_ends_once_in_each_table_and_in_the_archive(
    tmp_path: Path, stores: Mapping[str, Any]
) -> None:
    calm, place = run_all(tmp_path, stores)
    assert len(place.gemini.moments) == 7  # a chunk each
    assert calm.count("\n") > 5


def test_two_editions_of_a_day_and_supplements_keep_what_is_their_own(tmp_path: Path) -> None:
    with town(tmp_path) as place, CausaGanha(place.settings) as app:
        app.discover_year(2025)
        finish(app, 7)
        printed = place.tjro.editions
        assert [each.suffix for each in printed] == ["", "SUP", "", "", "ANEXO", "", "."]
        assert printed[2].day == printed[3].day
        with app.db.reading() as connection:
            pdf_rows = connection.execute(select(pdfs)).mappings().all()
            for each in printed:
                [pdf] = [row for row in pdf_rows if row["url"].endswith(each.item["url"])]
                body = Path(pdf["local_path"]).read_bytes()
                assert body == each.pdf()
                [file] = place.archive.items[pdf["archive_id"]]["files"]
                assert file["md5"] == hashlib.md5(body, usedforsecurity=False).hexdigest()
                of_it = select(decisions.c.process_number).where(decisions.c.pdf_id == pdf["id"])
                processes = connection.execute(of_it).scalars().all()
                assert processes
                text = "".join(page.extract_text() for page in PdfReader(io.BytesIO(body)).pages)
                assert all(process in text for process in processes)


def test_misbehaving_services_change_nothing_in_the_ranking(tmp_path: Path) -> None:
    (tmp_path / "calm").mkdir()
    (tmp_path / "rough").mkdir()
    calm, _ = run_all(tmp_path / "calm", {}, pages=30)
    rough, place = run_all(tmp_path / "rough", {}, pages=30, mishaps=True, max_attempts=10)
    assert rough == calm
    assert len(place.gemini.moments) == place.chunks + place.gemini.failed.total()
    assert set(place.gemini.failed) == {"429", "503", "broken"}


@pytest.mark.parametrize("stores", ["sqlite", "postgresql"], indirect=True)
def test_the_queues_are_the_tables_of_the_plan(tmp_path: Path, stores: Mapping[str, Any]) -> None:
    with town(tmp_path, **stores) as place, CausaGanha(place.settings) as app:
        app.discover_latest()
        app.discover_year(2025)
        finish(app, 7)
        with app.db.reading() as connection:
            for view in VIEWS:
                found = connection.execute(text(f"SELECT * FROM {view}")).mappings().all()  # noqa: S608
                assert [row["status"] for row in found] == ["completed"] * 7, view
                assert {row["attempts"] for row in found} == {1}, view
            joined = """
                SELECT q.url, q.priority, q.date, q.number, q.year, q.metadata, p.url AS got
                FROM pdfs p JOIN pdf_discovery_queue q ON q.id = p.discovery_queue_id
            """
            editions = connection.execute(text(joined)).mappings().all()
            assert all(row["url"] == row["got"] for row in editions)
            assert sorted(row["priority"] for row in editions) == [0, 0, 0, 0, 0, 10, 10]
            extracted = text("SELECT pdf_id, extraction_result FROM pdf_extraction_queue")
            assert all(row[1] for row in connection.execute(extracted))
            counted = text("SELECT sum(decisions_processed) FROM rating_processing_queue")
            assert connection.execute(counted).scalar() == rows(app, decisions)
            updated = text("SELECT sum(ratings_updated) FROM rating_processing_queue")
            assert connection.execute(updated).scalar() == rows(app, matches)


def test_what_is_known_is_not_discovered_again(tmp_path: Path) -> None:
    with town(tmp_path) as place, CausaGanha(place.settings) as app:
        assert app.discover_latest() == 2
        assert app.discover_year(2025) == 5
        assert app.discover_year(2025) == app.discover_latest() == 0
        finish(app, 7)
        app.ferry.backend.delete([job.id for job in jobs(app, "state:completed")])
        assert app.discover_year(2025) == 0  # the tables remember what the queue forgot


def test_a_batch_of_each_stage_takes_an_edition_to_its_end(tmp_path: Path) -> None:
    with town(tmp_path, editions=1) as place, CausaGanha(place.settings) as app:
        app.discover_year(2025)
        for stage in SLOTS:
            assert app.process(stage) == {"processed": 1, "succeeded": 1, "failed": 0}
        assert app.process("discovery") == {"processed": 0, "succeeded": 0, "failed": 0}


def test_a_batch_waits_for_the_quota_of_the_court(tmp_path: Path) -> None:
    with town(tmp_path, editions=3, tjro_quotas="2/s") as place, CausaGanha(place.settings) as app:
        app.discover_year(2025)
        assert app.process("discovery")["succeeded"] == 3


def test_a_stage_rests_while_the_next_has_enough_to_do(tmp_path: Path) -> None:
    with town(tmp_path, ahead=2) as place, CausaGanha(place.settings) as app:
        app.discover_year(2025)
        assert 2 <= app.process("discovery")["processed"] < 7
        for _ in range(20):  # what rests in between goes on once the stages behind it have worked
            for stage in ("ratings", "extraction", "archive"):
                app.process(stage)
            if app.process("discovery")["processed"]:
                break
        else:
            pytest.fail("discovery rested for good")


def test_a_chunk_that_fails_twice_ends_the_edition_and_keeps_the_other_chunks(
    tmp_path: Path,
) -> None:
    with town(tmp_path, editions=1, pages=30) as place, CausaGanha(place.settings) as app:
        place.gemini.spoilt = "Página 26 ==="
        app.discover_year(2025)
        for stage in ("discovery", "archive"):
            app.process(stage)
        assert app.process("extraction")["failed"] == 1
        [job] = jobs(app, "state:failed")
        assert "pages 26 to 30: 2 answers" in str(job.error)
        assert len(place.gemini.moments) == 3
        place.gemini.spoilt = None
        app.ferry.backend.retry([job.id])
        assert app.process("extraction")["succeeded"] == 1
        assert len(place.gemini.moments) == 4  # what was answered before is not asked again


def test_an_upload_whose_answer_was_lost_is_not_made_again(tmp_path: Path) -> None:
    with town(tmp_path, editions=1, mishaps=True) as place, CausaGanha(place.settings) as app:
        app.discover_year(2025)
        worker = app.worker()
        worker.start()
        wait_until(lambda: done(app) == 1, timeout=30, what="the edition")
        worker.join()
        assert set(place.archive.uploads.values()) == {1}


def test_each_stage_may_run_on_a_machine_that_has_no_file_of_the_edition(tmp_path: Path) -> None:
    with town(tmp_path, editions=1) as place:
        for stage in SLOTS:
            elsewhere = replace(place.settings, data=str(tmp_path / stage))
            with CausaGanha(elsewhere) as app:
                if stage == "discovery":
                    app.discover_year(2025)
                assert app.process(stage) == {"processed": 1, "succeeded": 1, "failed": 0}, stage
            for path in (tmp_path / stage).rglob("*.pdf"):
                path.unlink()
        assert place.tjro.served.total() == 2  # to be downloaded, and to be archived


def test_a_lost_file_is_not_replaced_by_another(tmp_path: Path) -> None:
    with town(tmp_path, editions=1) as place, CausaGanha(place.settings) as app:
        app.discover_year(2025)
        app.process("discovery")
        [path] = (tmp_path / "data").rglob("*.pdf")
        path.unlink()
        place.tjro.print(year_of(2025, 1, pages=5))
        assert app.process("archive")["failed"] == 1
        [job] = jobs(app, "state:pending queue:archive")
        assert f"PDF file not found: {path}" in str(job.error)
        assert not path.exists()
