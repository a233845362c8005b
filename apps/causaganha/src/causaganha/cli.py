"""The command `causaganha`."""

from __future__ import annotations

import json
import logging
import sys
import tempfile
import time
from dataclasses import asdict
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from httpx2 import HTTPError
from sqlalchemy.exc import SQLAlchemyError

from causaganha.app import SLOTS, CausaGanha
from causaganha.queues import PROCESSORS, PDFDiscoveryProcessor
from causaganha.ranking import as_csv, ranking
from causaganha.settings import Settings
from ferryman import FerrymanError, Snooze, State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from causaganha.edition import Edition
    from causaganha.ranking import Standing
    from ferryman import Run

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)
queue = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(queue, name="queue", help="Queue operations.")

FIRST_OF_ALL = 100
_BUSY = {State.PENDING, State.PROCESSING}


class QueueType(StrEnum):
    """The stages."""

    DISCOVERY = "discovery"
    ARCHIVE = "archive"
    EXTRACTION = "extraction"
    RATINGS = "ratings"


Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead.")]


@queue.command()
def discover(
    year: Annotated[int | None, typer.Option(help="Year to discover PDFs for.")] = None,
    latest: Annotated[bool, typer.Option("--latest", help="Discover latest PDFs.")] = False,
    as_json: Json = False,
) -> None:
    """Queue the editions that are new; without options, of last year and this one."""
    if latest and year is not None:
        raise typer.BadParameter("either --year or --latest")
    this_year = datetime.now(UTC).year
    years = [this_year - 1, this_year] if year is None else [year]
    found: dict[str, int] = {}
    with CausaGanha(Settings.from_environment()) as causaganha:
        processor = PDFDiscoveryProcessor(causaganha)
        if latest:
            found["latest"] = processor.discover_latest_pdfs()
        else:
            found.update({str(each): processor.discover_pdfs_for_year(each) for each in years})
    if as_json:
        _put_json(found)
        return
    for each, count in found.items():
        _put(f"✅ Discovered {count} " + ("latest PDFs" if latest else f"PDFs for year {each}"))
    if len(found) > 1:
        _put(f"🎯 Total: {sum(found.values())} PDFs discovered")


@queue.command()
def process(
    queue_type: Annotated[
        QueueType | None, typer.Option(help="Queue type to process; without it, all in order.")
    ] = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Batch size for processing.")] = 10,
    as_json: Json = False,
) -> None:
    """Run some waiting items here, then end: for cron."""
    settings = _checked(Settings.from_environment(), queue_type)
    results: dict[str, Any] = {}
    with CausaGanha(settings) as causaganha:
        for processor in PROCESSORS:
            if queue_type in (None, processor.stage):
                results[processor.stage] = dict(processor(causaganha).run_batch(batch_size))
    if as_json:
        _put_json(results)
        return
    for name, counts in results.items():
        _put(f"📊 {name.title()}: {counts}")


@queue.command()
def status(as_json: Json = False) -> None:
    """Show how many items of each queue are in which state."""
    with CausaGanha(Settings.from_environment()) as causaganha:
        seen = causaganha.status()
    if as_json:
        _put_json(seen)
        return
    _put("📊 Queue Status:")
    for name, counts in seen.items():
        _put(f"  {name}: {dict(counts)}")


@app.command()
def work() -> None:
    """Run all stages at once until told to stop."""
    settings = _checked(Settings.from_environment(), None)
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(message)s")
    logging.getLogger("causaganha").setLevel(logging.INFO)
    with CausaGanha(settings) as causaganha:
        code = causaganha.worker().run()
    raise typer.Exit(code)


@app.command(name="ranking")
def show_ranking(
    csv: Annotated[Path | None, typer.Option(help="Write CSV to this file; - prints it.")] = None,
    least: Annotated[int, typer.Option(min=0, help="At least so many matches.")] = 3,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many.")] = None,
    as_json: Json = False,
) -> None:
    """Show lawyers by mu - 3 sigma."""
    with CausaGanha(Settings.from_environment()) as causaganha:
        standings = ranking(causaganha.db, least, limit)
    if csv is not None and str(csv) != "-":
        csv.write_text(as_csv(standings))
    elif csv is not None:
        sys.stdout.write(as_csv(standings))
    elif as_json:
        _put_json([asdict(each) for each in standings])
    else:
        _put_table(standings)


@app.command()
def run(
    edition: Annotated[str, typer.Argument(help="Such as 2025/115 or 2025/115-SUP.")],
) -> None:
    """Take one edition through all stages, and watch it."""
    settings = _checked(Settings.from_environment(), None)
    with CausaGanha(settings) as causaganha:
        wanted = _find(causaganha, edition)
        started = causaganha.start(wanted, FIRST_OF_ALL)
        if started is None:
            started = causaganha.pipeline.run(wanted.id)
        if started.state() == "failed":
            started.retry()
        worker = causaganha.worker()
        worker.start()
        try:
            state = _watch(started, edition)
        finally:
            worker.join()
    _put(f"{edition}: {state}")
    raise typer.Exit(0 if state == "completed" else 1)


@app.command()
def demo() -> None:
    """Watch a year of invented gazettes pass, with a worker killed on the way; needs no network."""
    from rich.console import Console

    from causaganha.demo import run as run_demo
    from causaganha.demo import where_to_look

    folder = Path(tempfile.mkdtemp(prefix="causaganha-demo-"))
    report = run_demo(Console(), folder)
    _put_table(report.standings)
    _put(report.summary)
    _put(where_to_look(report.database))
    raise typer.Exit(0 if report.well else 1)


def main() -> None:
    """The entry point of the `causaganha` script."""
    try:
        app(prog_name="causaganha")
    except ValueError as error:
        _complain(error)
        raise SystemExit(2) from None
    except (FerrymanError, Snooze, HTTPError, SQLAlchemyError, OSError) as error:
        _complain(error)
        raise SystemExit(1) from None


def _complain(error: Exception) -> None:
    sys.stderr.write(f"causaganha: {str(error) or type(error).__name__}\n")


def _find(causaganha: CausaGanha, label: str) -> Edition:
    year = label.partition("/")[0]
    if not year.isdigit():
        raise typer.BadParameter(f"{label!r}: write year/number, such as 2025/115-SUP")
    listed = causaganha.editions_of(int(year))
    for each in listed:
        if each.label == label:
            return each
    raise typer.BadParameter(f"the court lists no edition {label!r}: {len(listed)} in {year}")


def _watch(started: Run, label: str) -> str:
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task(label, total=len(SLOTS))
        while True:
            progress = started.progress()
            stages = progress.stages
            done = sum(State.COMPLETED in counts for counts in stages.values())
            now = next((name for name, counts in stages.items() if counts.keys() & _BUSY), "")
            bar.update(task, completed=done, description=f"{label} {now}".strip())
            if progress.state != "running":
                return progress.state
            time.sleep(0.1)


def _checked(settings: Settings, queue_type: QueueType | None) -> Settings:
    """Refuse to begin what cannot end well."""
    needed = {
        "GEMINI_API_KEY": (settings.gemini_key, QueueType.EXTRACTION),
        "IA_ACCESS_KEY": (settings.ia_access_key, QueueType.ARCHIVE),
        "IA_SECRET_KEY": (settings.ia_secret_key, QueueType.ARCHIVE),
    }
    for name, (value, stage) in needed.items():
        if not value and queue_type in (None, stage):
            raise typer.BadParameter(f"{name} is not set, and the stage {stage} needs it")
    return settings


def _put_table(standings: Sequence[Standing]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("#", "lawyer", "id", "score", "mu", "sigma", "matches", box=None)
    for each in standings:
        numbers = (f"{number:.2f}" for number in (each.score, each.mu, each.sigma))
        shown = (each.nome, each.advogado_id, *numbers)
        table.add_row(str(each.position), *shown, str(each.total_partidas))
    Console().print(table)


def _put(text: str) -> None:
    sys.stdout.write(text + "\n")


def _put_json(value: Any) -> None:
    _put(json.dumps(value, ensure_ascii=False, indent=2))
