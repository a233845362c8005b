"""Every worker test runs on each backend that lives in one process or one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman import Ferry, Settings, Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(params=["memory", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/jobs.db"


@pytest.fixture
def ferry(url: str) -> Iterator[Ferry]:
    with Ferry(url, lease=1.0) as ferry:
        yield ferry


@pytest.fixture
def work(ferry: Ferry) -> Iterator[Callable[..., Worker]]:
    """Starts a worker with short times; it is drained at the end of the test."""
    started: list[Worker] = []

    def start(slots: int = 1, *, queue: str = "default", **settings: float) -> Worker:
        chosen = Settings(**{"lease": 1.0, "drain": 1.0, "reap_every": 0.1, **settings})
        worker = ferry.worker({queue: slots}, chosen)
        worker.start()
        started.append(worker)
        return worker

    yield start
    for worker in started:
        worker.join()
