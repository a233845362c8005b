"""A store that is met between two of its calls, and a rival on the same folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.testing.clock import FakeClock
from tests.backends.met.disk import MetDisk, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ferryman.backends.files import FileBackend


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def disk() -> MetDisk:
    return MetDisk()


@pytest.fixture
def store(tmp_path: Path, clock: FakeClock, disk: MetDisk) -> Iterator[FileBackend]:
    backend = opened(tmp_path / "queues", clock, disk)
    yield backend
    backend.close()


@pytest.fixture
def rival(tmp_path: Path, clock: FakeClock, store: FileBackend) -> Iterator[FileBackend]:
    backend = opened(tmp_path / "queues", clock)
    yield backend
    backend.close()


@pytest.fixture
def mail(tmp_path: Path, store: FileBackend) -> Path:
    return tmp_path / "queues" / "mail"
