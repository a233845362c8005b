"""Limits held by several worker processes, as the service they call sees it."""

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

pytestmark = pytest.mark.thorough

JITTER = 0.2
"""Seconds between a grant and what the service sees of it, on a busy machine. What 50 ms show is
in tests/system."""


@pytest.fixture(params=["sqlite", "file", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    match request.param:
        case "sqlite":
            return f"sqlite:///{tmp_path}/jobs.db"
        case "file":
            return f"file://{tmp_path}/queue"
        case _:
            return str(request.getfixturevalue("postgres_url"))


def completed(ferry: Ferry) -> int:
    return ferry.backend.snapshot().count(State.COMPLETED)


def test_neither_the_rate_nor_the_concurrency_is_exceeded_though_a_worker_is_killed(
    url: str,
) -> None:
    with serving(hold=0.03) as service, Ferry(url) as ferry:
        app.declare(ferry, service.url)
        ferry.carry([ferry.tasks.get("limited").message() for _ in range(120)])  # type: ignore[union-attr]
        with crew(url, service.url, 2, queue="limited", slots=3, lease=1.0, drain=2.0) as hired:
            wait_until(lambda: service.calls >= 40, timeout=30, what="a third of the calls")
            hired.kill()
            hired.hire()
            wait_until(lambda: completed(ferry) == 120, timeout=40, what="all jobs")
            assert hired.dismiss() == [0, 0]
        assert service.most <= 3
        assert service.most_within(1.0 - JITTER) <= 50
        assert all(not cell.value.count(":[") for cell in ferry.backend.read_cells("concurrency/"))


def test_two_workers_share_a_breaker_and_charge_nothing(url: str) -> None:
    slots, cooldown = 2, 2.0
    with serving(status=403) as service, Ferry(url) as ferry:
        app.declare(ferry, service.url, cooldown)
        needing = ferry.tasks.get("needing")
        assert needing is not None
        handles = ferry.carry([needing.message() for _ in range(50)])
        options = {"queue": "needing", "slots": slots, "lease": 2.0, "drain": 2.0}
        with crew(url, service.url, 2, cooldown=cooldown, **options) as hired:
            breaker = ferry.breaker("service")
            wait_until(
                lambda: breaker.circuit().failures > 5, timeout=30, what="a probe that failed"
            )
            rounds = breaker.circuit().failures - 5
            assert service.calls <= 5 + (2 * slots - 1) + 3 * rounds
            assert hired.dismiss() == [0, 0]
        assert {(j.state, j.attempts) for j in (h.job() for h in handles)} == {(State.PENDING, 0)}
