"""Gemini's quotas hold for all workers together, call by call, as the service sees it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from causaganha.app import CausaGanha
from causaganha.stand_ins.town import town
from ferryman import Filter
from ferryman.testing import FakeClock

if TYPE_CHECKING:
    from pathlib import Path

EVENING = datetime(2026, 7, 1, 20, tzinfo=UTC).timestamp()
MIDNIGHT = datetime(2026, 7, 2, 7, tzinfo=UTC).timestamp()
"""In California."""


def test_a_day_has_so_many_calls_over_all_workers_and_what_is_left_waits_for_the_next(
    tmp_path: Path,
) -> None:
    clock = FakeClock(EVENING)
    # 3, 1, 3 and 3 chunks: some wait in the middle of an edition.
    with town(tmp_path, editions=4, pages=60, gemini_quotas="1000/s,7/d") as place:
        with ExitStack() as stack:
            apps = [stack.enter_context(CausaGanha(place.settings, clock=clock)) for _ in range(3)]
            apps[0].discover_year(2025)
            for stage in ("discovery", "archive"):
                assert apps[0].process(stage)["succeeded"] == 4
            with ThreadPoolExecutor(3) as pool:
                counts = list(pool.map(lambda app: app.process("extraction"), apps))
            assert len(place.gemini.moments) == 7
            waiting = apps[0].ferry.backend.list(Filter.parse("queue:extraction state:pending"))
            assert 4 - sum(each["succeeded"] for each in counts) == len(waiting.jobs) > 0
            assert {job.ready_at for job in waiting.jobs} == {MIDNIGHT}
            assert {job.attempts for job in waiting.jobs} == {0}
        # Another process, after midnight: what was paid yesterday is not asked again.
        clock.advance(MIDNIGHT - EVENING)
        with CausaGanha(place.settings, clock=clock) as app:
            assert app.process("extraction")["succeeded"] == len(waiting.jobs)
        assert len(place.gemini.moments) == 10


def test_a_job_waits_between_its_calls_for_the_quota_of_a_minute(tmp_path: Path) -> None:
    with (
        town(tmp_path, editions=1, pages=120, gemini_quotas="2/s,500/d") as place,
        CausaGanha(place.settings) as app,
    ):
        app.discover_year(2025)
        for stage in ("discovery", "archive", "extraction"):
            assert app.process(stage) == {"processed": 1, "succeeded": 1, "failed": 0}
        moments = sorted(place.gemini.moments)
        assert len(moments) == 5
        assert moments[2] - moments[0] > 0.8
        assert moments[4] - moments[2] > 0.8
