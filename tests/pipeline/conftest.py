"""Stores for pipelines, under a clock that stands still until it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman import Ferry
from ferryman.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["memory", "sqlite", "file", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Each store on which a run has to go the same way."""
    match request.param:
        case "sqlite":
            return f"sqlite:///{tmp_path}/jobs.db"
        case "file":
            return f"file://{tmp_path}/queue"
        case "postgresql":
            return str(request.getfixturevalue("postgres_url"))
        case _:
            return "memory://"


@pytest.fixture
def every(url: str, clock: FakeClock) -> Iterator[Ferry]:
    """A Ferry on each of them."""
    with Ferry(url, clock=clock) as ferry:
        yield ferry


@pytest.fixture
def ferry(clock: FakeClock) -> Iterator[Ferry]:
    """A Ferry in memory, where the store does not matter."""
    with Ferry("memory://", clock=clock) as ferry:
        yield ferry
