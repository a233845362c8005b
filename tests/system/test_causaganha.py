"""Twenty editions through CausaGanha while workers are killed and every service misbehaves.

The services are the witnesses. About a minute each, which `make test` has no room for.
"""

from __future__ import annotations

import time
from multiprocessing import get_context
from typing import TYPE_CHECKING, Self

import pytest
from sqlalchemy import select

from causaganha.app import SLOTS, CausaGanha
from causaganha.ranking import as_csv, ranking
from causaganha.stand_ins.town import Town, town
from causaganha.tables import pdfs
from ferryman.testing import wait_until

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from multiprocessing.process import BaseProcess
    from pathlib import Path

    from causaganha.settings import Settings

EDITIONS, WORKERS, PERIOD, QUOTA = 20, 6, 5.0, 15
LATENCY = 0.5
"""Seconds that a call may spend between its grant and the service, on a busy machine."""


@pytest.fixture(params=["sqlite", "file", "postgresql"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Mapping[str, str]:
    match request.param:
        case "sqlite":
            return {"database": "", "queue": ""}
        case "file":
            return {"database": "", "queue": f"file://{tmp_path}/queue"}
        case _:
            return {"database": str(request.getfixturevalue("own_tables_url")), "queue": ""}


@pytest.mark.timeout(300)
def test_kills_and_mishaps_leave_no_trace(tmp_path: Path, stores: Mapping[str, str]) -> None:
    calm = calm_ranking(tmp_path / "calm")
    folder = tmp_path / "killed"
    folder.mkdir()
    with (
        town(
            folder,
            editions=EDITIONS,
            pages=30,
            mishaps=True,
            gemini_quotas=f"{QUOTA}/{PERIOD:.0f}s",
            max_attempts=100,
            lease=3.0,
            backoff=0.001,
            database=stores["database"],
            queue=stores["queue"],
        ) as place,
        CausaGanha(place.settings) as app,
    ):
        assert app.discover_year(2025) == EDITIONS
        with Crew(place) as crew:
            kills = kill_until_done(app, crew)
        assert app.status() == {stage: {"completed": EDITIONS} for stage in SLOTS}
        with app.db.reading() as connection:
            rows = connection.execute(select(pdfs)).mappings().all()
        assert len(rows) == EDITIONS
        assert all(row["finished_at"] for row in rows)
        assert len(place.archive.uploads) == EDITIONS
        assert set(place.archive.uploads.values()) == {1}
        assert as_csv(ranking(app.db, least=1)) == calm
    chunks = sum(-(-each.pages // 25) for each in place.tjro.editions)
    calls = len(place.gemini.moments)
    assert chunks + place.gemini.bad <= calls <= chunks + place.gemini.bad + kills
    assert most_within(place.gemini.moments, PERIOD - LATENCY) <= QUOTA
    assert kills >= 5


def calm_ranking(folder: Path) -> str:
    """What one worker makes of the same editions when all goes well."""
    folder.mkdir()
    with town(folder, editions=EDITIONS, pages=30) as place, CausaGanha(place.settings) as app:
        app.discover_year(2025)
        worker = app.worker()
        worker.start()
        wait_until(lambda: rated(app) == EDITIONS, timeout=120, what="a calm run")
        worker.join()
        return as_csv(ranking(app.db, least=1))


def rated(app: CausaGanha) -> int:
    return app.status()["ratings"].get("completed", 0)


def work(settings: Settings) -> None:
    with CausaGanha(settings) as app:
        app.worker().run()


class Crew:
    """Worker processes, forked from one that has imported everything: a second is a short life."""

    def __init__(self, place: Town) -> None:
        self._context = get_context("forkserver")
        self._context.set_forkserver_preload(["causaganha.cli", "google.genai", __name__])
        self._settings = place.settings
        self._workers: list[BaseProcess] = []

    def hire(self) -> None:
        worker = self._context.Process(target=work, args=(self._settings,))
        worker.start()
        self._workers.append(worker)

    def kill(self) -> None:
        """SIGKILL for the oldest."""
        worker = self._workers.pop(0)
        worker.kill()
        worker.join()
        worker.close()

    def __enter__(self) -> Self:
        for _ in range(WORKERS):
            self.hire()
        return self

    def __exit__(self, *_: object) -> None:
        while self._workers:
            self.kill()


def kill_until_done(app: CausaGanha, crew: Crew) -> int:
    """SIGKILL for the oldest worker every second, and another in its place; how many."""
    kills, due = 0, time.monotonic() + 1.0
    while rated(app) < EDITIONS:
        wait_until(lambda: time.monotonic() >= due, what="the next second")  # noqa: B023
        due += 1.0
        crew.kill()
        kills += 1
        crew.hire()
    return kills


def most_within(moments: Sequence[float], seconds: float) -> int:
    """The most calls in any period of that length."""
    ordered = sorted(moments)
    return max(sum(start <= each < start + seconds for each in ordered) for start in ordered)
