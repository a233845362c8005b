"""Capacity and schedules on each backend; several processes on each that they can share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.queue.open import open_backend
from ferryman.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ferryman.queue.contract import Backend

SHARED = ["sqlite", "file", "postgresql"]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def url_of(backend: str, request: pytest.FixtureRequest, folder: Path) -> str:
    match backend:
        case "memory":
            return "memory://"
        case "sqlite":
            return f"sqlite:///{folder}/jobs.db"
        case "file":
            return f"file://{folder}/queues"
        case _:
            return str(request.getfixturevalue("postgres_url"))


@pytest.fixture(params=["memory", *SHARED])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return url_of(request.param, request, tmp_path)


@pytest.fixture(params=SHARED)
def shared_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return url_of(request.param, request, tmp_path)


@pytest.fixture
def backend(url: str, clock: FakeClock) -> Iterator[Backend]:
    store = open_backend(url, clock)
    yield store
    store.close()
