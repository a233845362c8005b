from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest

from ferryman.ids import new_id
from ferryman.queue.open import open_backend
from ferryman.testing.conformance import Conformance
from ferryman.testing.conformance.given import claims, pushed
from ferryman.testing.conformance.handoff import HandOff
from ferryman.testing.conformance.ids import Ids
from ferryman.testing.conformance.lifecycle import Lifecycle
from ferryman.testing.conformance.pause import PausedQueue
from ferryman.testing.conformance.races import Races
from ferryman.testing.conformance.transaction import Transaction
from tests.conformance.sqs_ledger import BeforeSqlite
from tests.servers.line import Line
from tests.servers.sqs import sqs_url
from tests.servers.sqs_faults import Weather

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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


def test_with_hops_of_two_seconds_a_delay_of_ten_takes_five_and_is_never_early(
    ministack: Server, aws_settings: None, memory_folder: Path
) -> None:
    prefix, ledger = new_id().replace("-", ""), f"sqlite:///{memory_folder}/ledger.db"
    with Line(ministack.address) as line:
        weather = Weather(line)
        options = "&hop=2&look=3600"
        by_line = sqs_url(ministack, prefix, ledger).replace(
            ministack.address.rpartition(":")[2], line.address.rpartition(":")[2]
        )
        # Another process pushed it, as far as this one knows: only messages can tell.
        with (
            closing(open_backend(sqs_url(ministack, prefix, ledger) + options)) as elsewhere,
            closing(open_backend(by_line + options)) as store,
        ):
            claims(store)
            before = time.time()
            pushed(elsewhere, delay=10)
            while not claims(store):
                assert store.wait(["mail"], 20) is True
            assert time.time() >= before + 10
        # The first hop was sent from elsewhere.
        assert weather.calls["SendMessageBatch"] >= 4
