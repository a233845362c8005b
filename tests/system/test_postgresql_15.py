"""The oldest PostgreSQL that distributions still ship: Debian's, beside the newest of the wheel."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest

from ferryman.queue.open import open_backend
from ferryman.testing.machine import check_backend
from tests.conformance import test_postgresql
from tests.servers.postgres_cluster import Cluster, apt_programs
from tests.servers.postgres_fixtures import SCHEMA, sweep

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.clock import Clock
    from ferryman.queue.contract import Backend

VERSION = 15


@pytest.fixture(scope="session")
def fifteen() -> Iterator[str]:
    """The URL of a database of version 15, with a store in it."""
    with Cluster(apt_programs(VERSION), synchronous_commit="off") as cluster:
        cluster.primary.start()
        with closing(open_backend(f"{cluster.primary.url}?schema={SCHEMA}")):
            yield cluster.primary.url


@pytest.fixture(scope="session")
def admin(fifteen: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with psycopg.connect(fifteen, autocommit=True) as connection:
        yield connection


class TestPostgresql15(test_postgresql.TestPostgresql):
    @pytest.fixture
    def database(self, fifteen: str) -> str:
        return fifteen

    @pytest.fixture
    def url(self, fifteen: str, admin: psycopg.Connection[tuple[object, ...]]) -> str:
        sweep(admin)
        return f"{fifteen}?schema={SCHEMA}&application_name={SCHEMA}"

    def test_the_server_is_of_that_version(self, database: str) -> None:
        with psycopg.connect(database) as connection:
            assert connection.info.server_version // 10_000 == VERSION


def test_every_answer_on_that_version_is_allowed_by_the_contract(
    fifteen: str, admin: psycopg.Connection[tuple[object, ...]]
) -> None:
    def make(clock: Clock) -> Backend:
        sweep(admin)
        return open_backend(f"{fifteen}?schema={SCHEMA}&application_name={SCHEMA}", clock)

    check_backend(make, examples=40)
