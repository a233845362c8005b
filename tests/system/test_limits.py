"""Eight worker processes under a rate and a concurrency, some of them killed.

The service they call is the witness. Half a minute each, which `make test` has no room for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman import Ferry, State
from ferryman.testing import wait_until
from tests.flow import app
from tests.flow.crew import crew
from tests.flow.service import serving

if TYPE_CHECKING:
    from pathlib import Path

JOBS, KILLS = 400, 6
JITTER = 0.2
"""Seconds that a granted call may be late, on a machine that starts other workers meanwhile.

Without a rate a window that is shorter by so much would still see eighty.
"""


@pytest.fixture(params=["sqlite", "file", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    match request.param:
        case "sqlite":
            return f"sqlite:///{tmp_path}/jobs.db"
        case "file":
            return f"file://{tmp_path}/queue"
        case _:
            return str(request.getfixturevalue("postgres_url"))


@pytest.mark.timeout(180)
def test_the_service_never_sees_more_than_three_at_once_or_fifty_a_second(url: str) -> None:
    with serving(hold=0.03) as service, Ferry(url) as ferry:
        app.declare(ferry, service.url)
        limited = ferry.tasks.get("limited")
        assert limited is not None
        ferry.carry([limited.message() for _ in range(JOBS)])
        with crew(url, service.url, 8, queue="limited", slots=2, lease=2.0, drain=5.0) as hired:
            for kill in range(KILLS):
                reached = JOBS * (kill + 1) // (KILLS + 1)
                wait_until(lambda: service.calls >= reached, timeout=60, what="calls")  # noqa: B023
                hired.kill()
                hired.hire()
            wait_until(
                lambda: ferry.backend.snapshot().count(State.COMPLETED) == JOBS,
                timeout=60,
                what="all jobs",
            )
            assert hired.dismiss() == [0] * 8
        assert service.calls >= JOBS
        assert service.most <= 3
        assert service.most_within(1.0 - JITTER) <= 50
