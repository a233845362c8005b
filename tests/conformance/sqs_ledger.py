"""What makes the suite run on SQS queues before an SQLite ledger."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest

from ferryman.ids import new_id
from ferryman.testing.conformance.store import Store
from tests.servers.sqs import sqs_url

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ferryman.queue.contract import Backend
    from ferryman.testing.conformance.outage import TakesAway
    from tests.servers.shared import Server


class BeforeSqlite(Store):
    """Every promise is the ledger's; SQS carries the ids."""

    many, jobs, pairs, kills = 100, 100, 40, 3
    # The server looks for a waiting request every 100 ms.
    soon = 0.2

    @pytest.fixture
    def ledger(self, memory_folder: Path) -> Path:
        return memory_folder / "ledger.db"

    @pytest.fixture
    def project(self) -> str:
        return new_id().replace("-", "")

    @pytest.fixture
    def url(self, ministack: Server, aws_settings: None, project: str, ledger: Path) -> str:
        return sqs_url(ministack, project, f"sqlite:///{ledger}")

    @pytest.fixture
    def connection(self, backend: Backend, ledger: Path) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(ledger, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection

    @pytest.fixture
    def impatient_url(
        self, ministack: Server, aws_settings: None, project: str, ledger: Path
    ) -> str:
        return sqs_url(ministack, project, f"sqlite:///{ledger}?busy_timeout=0.05")

    @pytest.fixture
    def outage(self, backend: Backend, ledger: Path) -> TakesAway:
        """Without its ledger it can do nothing; without SQS see tests/sqs."""

        @contextmanager
        def locked() -> Iterator[None]:
            with closing(sqlite3.connect(ledger, isolation_level=None)) as other:
                other.execute("BEGIN EXCLUSIVE")
                yield

        return locked
