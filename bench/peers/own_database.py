"""A database for each folder, on the server that the environment names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.postgres_server import postgres_url, schema_of

if TYPE_CHECKING:
    from pathlib import Path


def database_for(folder: Path) -> str:
    """Its URL; made at the first call. The server is thrown away afterwards, and it with it."""
    import psycopg  # type: ignore[import-not-found,unused-ignore]

    name = schema_of(folder)
    server: Any
    with psycopg.connect(postgres_url(), autocommit=True) as server:
        # Workers open the same folder, perhaps at once.
        server.execute("SELECT pg_advisory_lock(1)")
        known = server.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone()
        if known is None:
            server.execute(f"CREATE DATABASE {name}")
    return f"{postgres_url().rpartition('/')[0]}/{name}"
