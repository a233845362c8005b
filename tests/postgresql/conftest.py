"""What every test of this backend starts from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.backends.postgresql import PostgresqlBackend, connect
from ferryman.clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def backend(postgres_url: str) -> Iterator[PostgresqlBackend]:
    store = connect(postgres_url, SystemClock())
    yield store
    store.close()
