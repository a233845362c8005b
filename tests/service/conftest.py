"""The service layer on each backend that lives in one process or one file."""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import pytest

from ferryman import Ferry
from ferryman.queue.open import open_backend
from ferryman.service.control import Control
from ferryman.service.insights import Insights
from ferryman.testing import FakeClock
from tests.service.shores import NEIGHBOURS, two_urls

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ferryman.queue.contract import Backend


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


@pytest.fixture(params=NEIGHBOURS, ids="-to-".join)
def stores(
    request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock
) -> Iterator[tuple[Backend, Backend]]:
    """Two empty stores, to move jobs from the one to the other."""
    with ExitStack() as stack:
        one, other = (
            stack.enter_context(closing(open_backend(url, clock)))
            for url in two_urls(request.param, tmp_path)
        )
        yield one, other


@pytest.fixture
def source(stores: tuple[Backend, Backend]) -> Backend:
    return stores[0]


@pytest.fixture
def target(stores: tuple[Backend, Backend]) -> Backend:
    return stores[1]
