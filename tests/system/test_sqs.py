from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from ferryman.ids import new_id
from ferryman.testing.conformance import Conformance
from ferryman.testing.conformance.handoff import HandOff
from ferryman.testing.conformance.ids import Ids
from ferryman.testing.conformance.lifecycle import Lifecycle
from ferryman.testing.conformance.pause import PausedQueue
from ferryman.testing.conformance.races import Races
from ferryman.testing.conformance.transaction import Transaction
from tests.conformance.sqs_ledger import BeforeSqlite
from tests.servers.sqs import sqs_url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.queue.contract import Backend
    from tests.servers.shared import Server


class TestSqs(BeforeSqlite, Conformance):
    """Every case; `make test` has a choice of them."""


class TestSqsBeforePostgresql(Ids, Lifecycle, HandOff, PausedQueue, Transaction, Races):
    """The cases that stand most on claims by id, with the other ledger."""

    many, jobs, pairs = 100, 100, 40

    @pytest.fixture
    def url(self, ministack: Server, aws_settings: None, postgres_url: str) -> str:
        return sqs_url(ministack, new_id().replace("-", ""), postgres_url)

    @pytest.fixture
    def connection(
        self, backend: Backend, postgres: str
    ) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
        with psycopg.connect(postgres) as connection:
            yield connection
