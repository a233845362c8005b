"""The application's database: SQLite by default, PostgreSQL by URL."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from sqlalchemy import create_engine, event, text

from causaganha.tables import METADATA

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine

_OF_THE_QUEUE = ("schema", "timeout", "connections", "listen")
_LOCK = 0x0CA5A


class CausaGanhaDB:
    """Transactions on the application's tables, which are made at the first use.

    The URL is written as Ferryman's are, so that one can serve both: `sqlite:///causaganha.db`,
    `postgresql://host/name`. Tables are made in the schema where its connections make them, as the
    views of the queues are.
    """

    def __init__(self, url: str) -> None:
        self._engine = _engine(url)
        self._made = False

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction of the only writer: what it reads stays so until it commits."""
        with self._engine.begin() as connection:
            if self._engine.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            if not self._made:
                METADATA.create_all(connection)
            yield connection
        self._made = True

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that only reads."""
        if not self._made:
            with self.writing():
                pass
        with self._engine.connect().execution_options(only_reads=True) as connection:
            yield connection

    def close(self) -> None:
        """Free the connections."""
        self._engine.dispose()


def now() -> str:
    """This moment as the tables keep it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _engine(url: str) -> Engine:
    address, _, query = url.partition("?")
    scheme, _, place = address.partition("://")
    if scheme == "sqlite":
        return _sqlite(address)
    if scheme != "postgresql":
        raise ValueError(
            f"the database is sqlite:///… or postgresql://…, not {scheme}://…: "
            "set CAUSAGANHA_DATABASE"
        )
    others = [(key, value) for key, value in parse_qsl(query) if key not in _OF_THE_QUEUE]
    return create_engine(f"postgresql+psycopg://{place}?{urlencode(others)}", pool_pre_ping=True)


def _sqlite(url: str) -> Engine:
    engine = create_engine(url, connect_args={"timeout": 30.0})

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # we begin transactions ourselves
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        reads = connection.get_execution_options().get("only_reads")
        connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")

    return engine
