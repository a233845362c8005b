"""One passage of a year's editions through CausaGanha, and what everybody saw of it."""

from __future__ import annotations

import random
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from causaganha.app import SLOTS, CausaGanha
from causaganha.ranking import as_csv, ranking
from causaganha.stand_ins.town import Town, town
from chaos.causaganha.rows import Rows
from chaos.causaganha.stall import Stall
from chaos.causaganha.workers import Workers
from chaos.served import served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

BACKENDS: Final = ("sqlite", "postgresql", "file")
YEAR: Final = 2025
QUOTA, PERIOD = 30, 10.0
"""So many calls of Gemini in so many seconds: few enough that a passage has to wait for them."""
WAY: Final = 3.0
"""Seconds that a call may be on its way: the app grants so much slower than the service allows."""
PATIENCE: Final = 300.0
"""Seconds without an edition coming to its end, after which the rest is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How a passage goes: with `rough`, services misbehave and a worker is killed every second.

    `seed` decides the order in which editions arrive, unless it is the court's own (None), and
    who is killed.
    """

    backend: str
    editions: int
    workers: int
    seed: int | None = None
    rough: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """What the tables say in the end, and what the services saw.

    `stall` is the longest time for which the machine had no turn for a process that could run.
    """

    rows: Rows
    ranking: str
    uploads: Mapping[str, int]
    expected_uploads: Sequence[str]
    chunks: int
    calls: Sequence[float]
    failed_answers: int
    kills: int
    stall: float
    seconds: float


def passage(terms: Terms, folder: Path, tell: Callable[[str], None] = lambda _: None) -> Passage:
    """Take the editions through, in a folder of their own."""
    folder.mkdir()
    began, chance = time.monotonic(), random.Random(terms.seed)  # noqa: S311
    with _place(terms, folder) as place, CausaGanha(place.settings) as app, Stall() as stall:
        editions = list(app.editions_of(YEAR))
        if terms.seed is not None:
            chance.shuffle(editions)
        for each in editions:
            app.start(each)
        with Workers(place.settings, terms.workers) as workers:
            for finished in _finishing(app, terms.editions):
                if terms.rough:
                    workers.strike(chance)
                tell(f"{finished} of {terms.editions} editions, {workers.kills} kills")
        return Passage(
            rows=Rows.of(app),
            ranking=as_csv(ranking(app.db, least=1)),
            uploads=dict(place.archive.uploads),
            expected_uploads=[f"{e.archive_id}/{e.path.rpartition('/')[2]}" for e in editions],
            chunks=place.chunks,
            calls=sorted(place.gemini.moments),
            failed_answers=place.gemini.failed.total(),
            kills=workers.kills,
            stall=stall.worst,
            seconds=time.monotonic() - began,
        )


@contextmanager
def _place(terms: Terms, folder: Path) -> Iterator[Town]:
    with (
        _stores(terms.backend, folder) as stores,
        town(
            folder,
            editions=terms.editions,
            pages=30,
            mishaps=terms.rough,
            gemini_quotas=f"{QUOTA}/{PERIOD + WAY:.0f}s" if terms.rough else "1000/s",
            max_attempts=100,
            lease=3.0,
            backoff=0.001,
            database=stores.get("database", ""),
            queue=stores.get("queue", ""),
        ) as place,
    ):
        yield place


@contextmanager
def _stores(backend: str, folder: Path) -> Iterator[dict[str, str]]:
    """Where the jobs and the tables are: together in a database, or the jobs in files."""
    match backend:
        case "sqlite":
            yield {}
        case "file":
            yield {"queue": f"file://{folder}/queue"}
        case _:
            with served(folder) as site:
                yield {"database": site.judge}


def _finishing(app: CausaGanha, editions: int) -> Iterator[int]:
    """How many are at their end, every second until all are or nothing moves any more."""
    seen, moved, due = 0, time.monotonic(), time.monotonic() + 1.0
    while seen < editions and time.monotonic() - moved < PATIENCE:
        time.sleep(max(0.0, due - time.monotonic()))
        due = time.monotonic() + 1.0
        status = app.status()
        finished = min(status[stage].get("completed", 0) for stage in SLOTS)
        if finished > seen:
            seen, moved = finished, time.monotonic()
        yield seen
