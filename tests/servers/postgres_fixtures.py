"""Fixtures for tests on PostgreSQL: one server a session, a database a process, a schema a test."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from ferryman.ids import new_id
from ferryman.queue.open import open_backend
from ferryman.testing.waiting import wait_until
from tests.servers.kinds import HOST
from tests.servers.shared import Server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCHEMA = "swept"
# Those of this process's database: others test beside us.
SESSIONS = f"""
FROM pg_stat_activity WHERE application_name = '{SCHEMA}' AND datname = current_database()
"""


@pytest.fixture(autouse=True)
def _no_floors_by_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow poll in a store that thousands of tests have left dead rows in is no long transaction.

    Tests of what is done about those say that there are enough of them.
    """
    monkeypatch.setattr("ferryman.backends.postgresql.floors.DEAD", 1 << 40)


@pytest.fixture(scope="session")
def postgres_server(servers_folder: Path) -> Iterator[str]:
    """The URL of a server that lets us create databases."""
    if given := os.environ.get("FERRYMAN_TEST_POSTGRES"):
        yield given
        return
    with Server("postgres", servers_folder / "postgres") as server:
        port = server.address.rpartition(":")[2]
        yield f"postgresql://postgres@{HOST}:{port}/postgres"


@pytest.fixture(scope="session")
def postgres(postgres_server: str) -> Iterator[str]:
    """The URL of a database of this process's own."""
    name = f"ferryman_test_{new_id()[-12:]}"
    with psycopg.connect(postgres_server, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
        yield _with_database(postgres_server, name)
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def postgres_admin(postgres: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """A connection that commits each statement, for looking behind a backend's back."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        yield connection


@pytest.fixture
def new_schema_url(postgres: str) -> str:
    """The URL of a store that nobody has made yet."""
    return f"{postgres}?schema=t_{new_id()[-12:]}"


@pytest.fixture
def own_tables_url(
    new_schema_url: str, postgres_admin: psycopg.Connection[tuple[object, ...]]
) -> str:
    """The same; tables that its connections make beside it are in a schema of their own."""
    name = f"own_{new_id()[-12:]}"
    postgres_admin.execute(f"CREATE SCHEMA {name}")
    return f"{new_schema_url}&options=-csearch_path%3D{name}"


@pytest.fixture(scope="session")
def _swept_schema(postgres: str) -> str:
    url = f"{postgres}?schema={SCHEMA}&application_name={SCHEMA}"
    open_backend(url).close()
    return url


@pytest.fixture
def postgres_url(_swept_schema: str, postgres_admin: psycopg.Connection[tuple[object, ...]]) -> str:
    """The URL of an empty store. To sweep one takes 2 ms, to make one 60."""
    sweep(postgres_admin)
    return _swept_schema


def sweep(admin: psycopg.Connection[tuple[object, ...]]) -> None:
    """Empty the store of `postgres_url`."""
    end_sessions(admin)
    tables = ("jobs", "history", "errors", "logs", "counts", "paused_queues", "cells")
    # Deleting from history is counted, so the counters come twice.
    for table in (*tables, "turns", "tenant_queues", "counts"):
        admin.execute(f"DELETE FROM {SCHEMA}.{table}")  # noqa: S608


def end_sessions(admin: psycopg.Connection[tuple[object, ...]]) -> None:
    """End all sessions of `postgres_url`: killed processes may have left statements under way."""
    query = f"SELECT pg_terminate_backend(pid) {SESSIONS}"
    wait_until(lambda: admin.execute(query).rowcount == 0, what="old sessions to end")


def _with_database(url: str, name: str) -> str:
    parts = conninfo_to_dict(url)
    login = str(parts.get("user", "")) + (f":{parts['password']}" if "password" in parts else "")
    return f"postgresql://{login}@{parts.get('host', HOST)}:{parts.get('port', 5432)}/{name}"
