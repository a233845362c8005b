"""The command line, as the plan shows it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from causaganha.cli import app
from causaganha.queues import PROCESSORS, QueueItem
from causaganha.settings import Settings
from causaganha.stand_ins.town import Town, town

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from typer.testing import Result


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Town]:
    with town(tmp_path, editions=2) as made:
        yield made


def call(place: Town, *words: str) -> Result:
    return CliRunner(env={**place.settings.environment, "NO_COLOR": "1"}).invoke(app, [*words])


def said(place: Town, *words: str) -> str:
    result = call(place, *words)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_discover_process_status_and_ranking_as_the_plan_prints_them(
    place: Town, tmp_path: Path
) -> None:
    assert said(place, "queue", "discover", "--year", "2025") == (
        "✅ Discovered 2 PDFs for year 2025\n"
    )
    assert said(place, "queue", "discover", "--latest") == "✅ Discovered 0 latest PDFs\n"
    assert said(place, "queue", "process", "--queue-type", "discovery", "--batch-size", "1") == (
        "📊 Discovery: {'processed': 1, 'succeeded': 1, 'failed': 0}\n"
    )
    assert said(place, "queue", "status").splitlines()[:2] == [
        "📊 Queue Status:",
        "  discovery: {'pending': 1, 'completed': 1}",
    ]
    everything = said(place, "queue", "process", "--batch-size", "5")
    assert "📊 Ratings: {'processed': 2, 'succeeded': 2, 'failed': 0}" in everything
    seen = json.loads(said(place, "queue", "status", "--json"))
    assert seen["ratings"] == {"completed": 2}
    assert "OAB/RO" in said(place, "ranking", "--least", "1")
    said(place, "ranking", "--least", "1", "--csv", str(tmp_path / "out.csv"))
    header = "position,advogado_id,nome,score,mu,sigma,total_partidas"
    assert (tmp_path / "out.csv").read_text().startswith(header)
    assert json.loads(said(place, "ranking", "--json", "--least", "1"))[0]["position"] == 1


def test_without_options_the_last_two_years_are_discovered(place: Town) -> None:
    lines = said(place, "queue", "discover").splitlines()
    assert len(lines) == 3
    assert lines[-1].startswith("🎯 Total: ")


def test_run_takes_one_edition_to_its_end(place: Town) -> None:
    assert said(place, "run", "2025/001-SUP") == "2025/001-SUP: completed\n"
    assert said(place, "run", "2025/001-SUP") == "2025/001-SUP: completed\n"
    seen = json.loads(said(place, "queue", "status", "--json"))
    assert seen["discovery"] == {"completed": 1}


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["run", "2025/999"], "lists no edition"),
        (["run", "yesterday"], "such as 2025/115-SUP"),
        (["queue", "process", "--queue-type", "mail"], "ratings"),
        (["queue", "discover", "--year", "2025", "--latest"], "either --year or --latest"),
        (["queue", "process", "--batch-size", "0"], "batch-size"),
    ],
)
def test_nonsense_is_refused(place: Town, words: list[str], hint: str) -> None:
    result = call(place, *words)
    assert result.exit_code == 2
    assert hint in result.output


def test_run_tries_again_what_failed(place: Town, tmp_path: Path) -> None:
    place.gemini.spoilt = "Página 1 ==="
    assert call(place, "run", "2025/001").exit_code == 1
    place.gemini.spoilt = None
    assert said(place, "run", "2025/001") == "2025/001: completed\n"


def test_a_service_that_is_away_is_told_in_a_line(place: Town) -> None:
    environment = {
        **os.environ,
        **place.settings.environment,
        "CAUSAGANHA_TJRO": "http://127.0.0.1:9",
    }
    ran = subprocess.run(
        [sys.executable, "-m", "causaganha", "queue", "discover", "--latest"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert ran.stderr.startswith("causaganha: ")
    assert ran.stderr.count("\n") == 1


def test_work_without_a_key_says_which(place: Town) -> None:
    environment = {**os.environ, **place.settings.environment, "GEMINI_API_KEY": ""}
    ran = subprocess.run(
        [sys.executable, "-m", "causaganha", "work"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert "GEMINI_API_KEY is not set" in ran.stderr


def test_the_names_of_the_plan_are_there() -> None:
    assert [each.__name__ for each in PROCESSORS] == [
        "PDFDiscoveryProcessor",
        "PDFArchiveProcessor",
        "PDFExtractionProcessor",
        "RatingProcessingProcessor",
    ]


def test_pending_items_are_seen_as_the_plan_sees_them(place: Town) -> None:
    from causaganha.app import CausaGanha
    from causaganha.queues import PDFDiscoveryProcessor

    with CausaGanha(place.settings) as causaganha:
        processor = PDFDiscoveryProcessor(causaganha)
        assert processor.discover_pdfs_for_year(2025) == 2
        [item] = processor.get_pending_items(1)
    assert isinstance(item, QueueItem)
    assert (item.status, item.attempts, item.last_attempt) == ("pending", 0, None)
    assert item.metadata["url"].endswith(".pdf")


def test_settings_come_from_the_environment_and_bad_numbers_are_named() -> None:
    given = {"CAUSAGANHA_DATABASE": "postgresql://h/d", "CAUSAGANHA_MAX_ATTEMPTS": "5"}
    settings = Settings.from_environment({**given, "GEMINI_API_KEY": "k"})
    assert settings.queue_url == "postgresql://h/d"
    assert (settings.max_attempts, settings.gemini_key) == (5, "k")
    with pytest.raises(ValueError, match="CAUSAGANHA_LEASE must be a number"):
        Settings.from_environment({"CAUSAGANHA_LEASE": "soon"})
