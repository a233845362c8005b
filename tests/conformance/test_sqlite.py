from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest

from ferryman.testing.conformance import Conformance

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ferryman.queue.contract import Backend
    from ferryman.testing.conformance.outage import TakesAway


class TestSqlite(Conformance):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path}/jobs.db"

    @pytest.fixture
    def connection(self, backend: Backend, tmp_path: Path) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(tmp_path / "jobs.db", isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection

    @pytest.fixture
    def impatient_url(self, url: str) -> str:
        return f"{url}?busy_timeout=0.05"

    @pytest.fixture
    def outage(self, backend: Backend, tmp_path: Path) -> TakesAway:
        @contextmanager
        def locked() -> Iterator[None]:
            with closing(sqlite3.connect(tmp_path / "jobs.db", isolation_level=None)) as other:
                other.execute("BEGIN EXCLUSIVE")
                yield

        return locked
