"""The demo: a year of invented gazettes, services that misbehave, and a worker that is killed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from causaganha.app import SLOTS, CausaGanha
from causaganha.ranking import ranking
from causaganha.stand_ins.town import Town, town

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from causaganha.ranking import Standing

WORKERS: Final = 2
GIVE_UP: Final = 180.0
"""Seconds after which something must be wrong."""


@dataclass(frozen=True, slots=True)
class Report:
    """What the services and the tables say at the end."""

    editions: int
    rated: int
    uploads: Sequence[int]
    chunks: int
    calls: int
    useless: int
    mishaps: int
    seconds: float
    standings: Sequence[Standing]
    database: str

    @property
    def summary(self) -> str:
        """The figures in a sentence."""
        uploads = "one each" if set(self.uploads) == {1} else f"{sorted(self.uploads)}"
        return (
            f"{self.rated} of {self.editions} editions rated in {self.seconds:.0f} s; uploads: "
            f"{uploads}; {self.calls} answers of Gemini for {self.chunks} chunks, "
            f"{self.useless} of them useless; {self.mishaps} mishaps"
        )

    @property
    def well(self) -> bool:
        """Whether everything happened, and once."""
        once = len(self.uploads) == self.editions and set(self.uploads) == {1}
        return once and self.rated == self.editions and self.calls <= self.chunks + self.useless + 1


def run(console: Console, folder: Path, editions: int = 20) -> Report:
    """Take a year through all stages, and kill a worker with SIGKILL on the way."""
    began = time.monotonic()
    with (
        town(
            folder, editions=editions, pages=30, mishaps=True, lease=3.0, max_attempts=10
        ) as place,
        CausaGanha(place.settings) as app,
    ):
        app.discover_year(2025)
        console.print(f"{editions} editions; every service misbehaves once for each of them")
        with _crew(place) as workers:
            _follow(app, console, editions, workers, place)
        return Report(
            editions=editions,
            rated=app.status()["ratings"].get("completed", 0),
            uploads=list(place.archive.uploads.values()),
            chunks=place.chunks,
            calls=len(place.gemini.moments),
            useless=place.gemini.failed.total(),
            mishaps=sum(each.mishaps.met.total() for each in (place.tjro, place.archive))
            + place.gemini.mishaps.met.total(),
            seconds=time.monotonic() - began,
            standings=ranking(app.db, limit=10),
            database=place.settings.database,
        )


def where_to_look(database: str) -> str:
    """What to try next, with what the demo left and with the real services."""
    ferryman, causaganha = _program("ferryman"), _program("causaganha")
    return f"""
Look at what it left:
  {ferryman} serve --url {database}
  {ferryman} status --url {database}
  CAUSAGANHA_DATABASE={database} {causaganha} ranking
With the real services: set GEMINI_API_KEY, IA_ACCESS_KEY and IA_SECRET_KEY, then
  {causaganha} queue discover --latest
  {causaganha} work
  {causaganha} queue status"""


def _program(name: str) -> str:
    """How to call it from here: by its name where a shell finds it, else by its path."""
    return name if shutil.which(name) else str(Path(sys.executable).with_name(name))


def _follow(
    app: CausaGanha,
    console: Console,
    editions: int,
    workers: list[subprocess.Popen[bytes]],
    place: Town,
) -> None:
    columns = (TextColumn("{task.description:>10}"), BarColumn(), MofNCompleteColumn())
    deadline, killed = time.monotonic() + GIVE_UP, False
    with Progress(*columns, console=console) as progress:
        bars = {stage: progress.add_task(stage, total=editions) for stage in SLOTS}
        while time.monotonic() < deadline:
            status = app.status()
            for stage, bar in bars.items():
                progress.update(bar, completed=status[stage].get("completed", 0))
            if status["ratings"].get("completed", 0) == editions:
                return
            if not killed and status["extraction"].get("completed", 0) >= editions // 4:
                victim = workers.pop(0)
                victim.kill()
                victim.wait()
                workers.append(_hire(place))
                console.print(f"kill -9 {victim.pid}: another worker takes over")
                killed = True
            time.sleep(0.1)


@contextmanager
def _crew(place: Town) -> Iterator[list[subprocess.Popen[bytes]]]:
    workers = [_hire(place) for _ in range(WORKERS)]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.wait()


def _hire(place: Town) -> subprocess.Popen[bytes]:
    environment = {**os.environ, **place.settings.environment}
    words = [sys.executable, "-m", "causaganha", "work"]
    return subprocess.Popen(words, env=environment, stderr=subprocess.DEVNULL)
