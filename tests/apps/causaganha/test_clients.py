"""The clients of the three services, over HTTP."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import httpx2
import pytest

from causaganha.archive import InternetArchive, UploadRefused, metadata_of
from causaganha.decision import Decision
from causaganha.edition import Edition
from causaganha.gemini import BadAnswer, Gemini, GeminiDown, GeminiRefused, QuotaSpent
from causaganha.pdf import InvalidPdf, Pages, check_pdf
from causaganha.stand_ins.gazette import Printed, year_of
from causaganha.stand_ins.gemini import KEY
from causaganha.stand_ins.tjro import TjroStandIn
from causaganha.tjro import Tjro, TooManyRequests
from ferryman import Ferry, Snooze

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from causaganha.stand_ins.archive import ArchiveStandIn
    from causaganha.stand_ins.gemini import GeminiStandIn
    from ferryman import Rate


@pytest.fixture
def rate() -> Iterator[Rate]:
    with Ferry("memory://") as ferry:
        yield ferry.rate("service", "1000/s")


@pytest.fixture
def court(tjro: TjroStandIn, rate: Rate) -> Iterator[Tjro]:
    client = Tjro(tjro.url, rate)
    yield client
    client.close()


@pytest.fixture
def library(archive: ArchiveStandIn) -> Iterator[InternetArchive]:
    client = InternetArchive(archive.url, archive.url, "key", "secret")
    yield client
    client.close()


@pytest.fixture
def model(gemini: GeminiStandIn, rate: Rate) -> Iterator[Gemini]:
    client = Gemini(gemini.url, KEY, "gemini-2.5-flash", rate)
    yield client
    client.close()


@pytest.fixture
def printed() -> Printed:
    return year_of(2025, 1, 30)[0]


@pytest.fixture
def file(printed: Printed, tmp_path: Path) -> Path:
    path = tmp_path / printed.item["relativePath"]
    path.write_bytes(printed.pdf())
    return path


# -- the court


def test_a_year_lists_every_edition_and_supplement_oldest_first(court: Tjro) -> None:
    found = court.year(2025)
    labels = [each.label for each in found]
    assert len(found) == 7
    assert {"2025/001", "2025/001-SUP", "2025/003-ANEXO"} <= set(labels)
    assert [each.date for each in found] == sorted(each.date for each in found)
    assert len({each.date for each in found}) < 7
    for distinct in ("url", "id", "archive_id", "path"):
        assert len({getattr(each, distinct) for each in found}) == 7, distinct
    assert court.year(1999) == []


def test_the_latest_edition_comes_with_its_supplements(court: Tjro, tjro: TjroStandIn) -> None:
    latest = court.latest()
    assert {each.suffix for each in latest} == {"", "."}
    assert {each.archive_id[-4:] for each in latest} == {"-x2e", "r004"}
    tjro.print(tjro.editions[:1])
    assert [each.label for each in court.latest()] == ["2025/001"]


def test_the_site_shuts_out_what_is_no_browser(tjro: TjroStandIn) -> None:
    assert httpx2.get(f"{tjro.url}/diario_oficial/list.php?ano=2025").status_code == 403


def test_a_site_that_was_asked_too_often_says_when_to_come_again(rate: Rate) -> None:
    with TjroStandIn(year_of(2025, 1, 1), most=2) as service:
        client = Tjro(service.url, rate)
        client.year(2025)
        client.latest()
        with pytest.raises(TooManyRequests) as caught:
            client.latest()
        client.close()
    assert caught.value.retry_after == 1.0
    with pytest.raises(Snooze):  # nor does anybody else ask it in that time
        rate.take(wait=0)


def test_a_download_is_whole_and_measured(court: Tjro, tmp_path: Path) -> None:
    edition = court.year(2025)[0]
    got = court.download(edition, tmp_path / edition.path)
    body = got.path.read_bytes()
    assert (got.size, got.sha256) == (len(body), hashlib.sha256(body).hexdigest())
    check_pdf(got.path)


@pytest.mark.parametrize("tjro", [["cut"]], indirect=True)
def test_half_a_download_leaves_nothing_behind(court: Tjro, tmp_path: Path) -> None:
    edition = court.year(2025)[0]
    with pytest.raises(httpx2.RemoteProtocolError):
        court.download(edition, tmp_path / edition.path)
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == []


@pytest.mark.parametrize(
    "item",
    [{}, {"year": "2025", "month": "13", "day": "01", "url": "/x"}, "x", {"year": "2025"}],
)
def test_what_is_no_edition_is_refused(item: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="not an edition"):
        Edition.of(item, "https://gazette.test")


def test_an_edition_stays_inside_the_data_folder() -> None:
    item = {"year": "2025", "month": "06", "day": "26", "number": "1", "url": "/a/%2e%2e/b.pdf"}
    with pytest.raises(ValueError, match="no file name"):
        _ = Edition.of(item, "https://gazette.test").path


# -- its files


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>" * 400, b"%PDF-1.6 short", b"%PDF-1.6" + b"x" * 2000],
    ids=["empty", "html", "short", "garbage"],
)
def test_what_is_no_pdf_is_refused(body: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    path.write_bytes(body)
    with pytest.raises(InvalidPdf, match="Downloaded content is not a valid PDF"):
        check_pdf(path)


def test_a_pdf_that_lost_its_end_is_refused(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-2000])
    with pytest.raises(InvalidPdf):
        check_pdf(file)


def test_chunks_are_25_pages_with_one_before_them_as_context(file: Path) -> None:
    pages = Pages(file)
    first, second = pages.chunks()
    assert (first.first, first.last, second.first, second.last) == (1, 25, 26, 30)
    assert pages.text(first).count("=== Página") == 25
    text = pages.text(second)
    assert text.count("=== Página") == 6
    assert text.startswith("=== Página 25 (fim da parte anterior, apenas contexto) ===")


# -- the archive


def test_an_upload_carries_the_metadata_and_can_be_found_again(
    library: InternetArchive, archive: ArchiveStandIn, printed: Printed, file: Path
) -> None:
    edition = Edition.of(printed.item, "https://gazette.test")
    item = edition.archive_id
    assert not library.holds(item, file)
    library.upload(item, file, metadata_of(edition, "5ha"))
    assert library.holds(item, file)
    kept = archive.items[item]["metadata"]
    assert kept["title"] == f"Diário de Justiça RO - {edition.date}"
    assert kept["description"] == f"Diário Oficial de Justiça de Rondônia do dia {edition.date}"
    assert kept["creator"] == "Tribunal de Justiça de Rondônia"
    assert kept["subject"] == ["law", "brazil", "rondonia", "justice", "oficial-diary"]
    assert (kept["collection"], kept["mediatype"]) == ("opensource", "texts")
    assert (kept["date"], kept["sha256"]) == (edition.date, "5ha")


def test_an_item_with_another_file_of_that_name_does_not_hold_this_one(
    library: InternetArchive, file: Path
) -> None:
    library.upload("item", file, {})
    file.write_bytes(file.read_bytes() + b"\n")
    assert not library.holds("item", file)


@pytest.mark.parametrize("archive", [["503"]], indirect=True)
def test_an_archive_that_is_busy_raises_once(library: InternetArchive, file: Path) -> None:
    with pytest.raises(httpx2.HTTPStatusError):
        library.upload("item", file, {})
    assert not library.holds("item", file)
    library.upload("item", file, {})
    assert library.holds("item", file)


def test_wrong_keys_are_told(archive: ArchiveStandIn, file: Path) -> None:
    stranger = InternetArchive(archive.url, archive.url, "", "")
    stranger._authorization = ""
    with pytest.raises(UploadRefused, match="IA_ACCESS_KEY"):
        stranger.upload("item", file, {})
    stranger.close()


# -- the model


def text_of(file: Path, number: int) -> str:
    pages = Pages(file)
    return pages.text(pages.chunks()[number])


def test_the_model_reads_decisions_from_the_text_of_a_pdf(model: Gemini, file: Path) -> None:
    found = [Decision.of(each) for each in model.decisions(text_of(file, 0))]
    assert len(found) == 9
    assert all(each.lawyers_polo_ativo for each in found)
    assert any(each.date is None for each in found)


@pytest.mark.parametrize("gemini", [["fenced"], ["english"]], indirect=True)
def test_fences_and_english_keys_make_no_difference(model: Gemini, file: Path) -> None:
    text = text_of(file, 0)
    odd = [Decision.of(each) for each in model.decisions(text)]
    assert odd == [Decision.of(each) for each in model.decisions(text)]


@pytest.mark.parametrize("gemini", [["broken"]], indirect=True)
def test_half_a_json_is_a_bad_answer(model: Gemini, file: Path) -> None:
    with pytest.raises(BadAnswer, match="no JSON"):
        model.decisions(text_of(file, 0))


@pytest.mark.parametrize("gemini", [["429"]], indirect=True)
def test_a_429_says_how_long_to_wait(model: Gemini, file: Path) -> None:
    with pytest.raises(QuotaSpent) as caught:
        model.decisions(text_of(file, 0))
    assert caught.value.retry_after == 1.0


@pytest.mark.parametrize("gemini", [["503"]], indirect=True)
def test_an_outage_is_told_from_a_bad_answer(model: Gemini, file: Path) -> None:
    with pytest.raises(GeminiDown, match="503"):
        model.decisions(text_of(file, 0))


def test_a_wrong_key_is_told(gemini: GeminiStandIn, rate: Rate, file: Path) -> None:
    stranger = Gemini(gemini.url, "wrong", "gemini-2.5-flash", rate)
    with pytest.raises(GeminiRefused, match="GEMINI_API_KEY"):
        stranger.decisions(text_of(file, 0))
    stranger.close()
    assert gemini.moments == []
