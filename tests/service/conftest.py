"""The service layer on each backend that lives in one process or one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman import Ferry
from ferryman.service.control import Control
from ferryman.service.insights import Insights
from ferryman.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["memory", "sqlite"])
def ferry(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[Ferry]:
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/jobs.db"
    with Ferry(url, clock=clock) as ferry:
        yield ferry


@pytest.fixture
def insights(ferry: Ferry) -> Insights:
    return Insights(ferry.backend)


@pytest.fixture
def control(ferry: Ferry) -> Control:
    return Control(ferry.backend)
