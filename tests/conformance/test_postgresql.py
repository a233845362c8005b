from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg
import pytest

from ferryman.testing.conformance import Conformance
from tests.servers.postgres_relay import Relay, relayed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.queue.contract import Backend
    from ferryman.testing.conformance.outage import TakesAway


class TestPostgresql(Conformance):
    @pytest.fixture
    def url(self, postgres_url: str) -> str:
        return postgres_url

    @pytest.fixture
    def database(self, postgres: str) -> str:
        """Where the store's schema is; another server overrides this and `url`."""
        return postgres

    @pytest.fixture
    def connection(
        self, backend: Backend, database: str
    ) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
        with psycopg.connect(database) as connection:
            yield connection

    @pytest.fixture
    def relay(self, database: str) -> Iterator[Relay]:
        with Relay(database) as relay:
            yield relay

    @pytest.fixture
    def impatient_url(self, url: str, relay: Relay) -> str:
        """The same store by a line that can be cut."""
        return relayed(url, relay)

    @pytest.fixture
    def outage(self, relay: Relay) -> TakesAway:
        @contextmanager
        def cut_off() -> Iterator[None]:
            relay.cut()
            yield
            relay.mend()

        return cut_off
