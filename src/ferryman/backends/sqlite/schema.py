"""Whose database it is, and of which version: made, brought up to date, or left untouched."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Final

from ferryman.backends.sql.statements import schema
from ferryman.errors import BackendRejected

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

APPLICATION_ID: Final = int.from_bytes(b"Frry")
VERSIONS: Final = schema("ferryman.backends.sqlite")
OLDEST_SQLITE: Final = (3, 35, 0)


# One statement, one view: between several, another process may be making the schema.
_IDENTITY: Final = """
SELECT
    (SELECT application_id FROM pragma_application_id),
    (SELECT user_version FROM pragma_user_version),
    (SELECT count(*) FROM sqlite_master)
"""


def check_sqlite() -> None:
    """Refuse a library without UPDATE … RETURNING."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise BackendRejected(
            f"SQLite {sqlite3.sqlite_version} is too old: Ferryman needs 3.35 or newer, "
            "which comes with a newer Python"
        )


def identify(connection: sqlite3.Connection, path: Path, *, newer: bool = False) -> int:
    """The schema's version, 0 in an empty database; reads only, so a stranger's stays as it is.

    One of a version to come is refused, unless `newer` ones are let through.
    """
    owner, version, tables = connection.execute(_IDENTITY).fetchone()
    if (owner, version, tables) == (0, 0, 0):
        return 0
    if owner != APPLICATION_ID:
        raise BackendRejected(
            f"{path} is another program's database: choose a file of its own for Ferryman"
        )
    if version > len(VERSIONS) and not newer:
        raise BackendRejected(
            f"{path} has schema version {version}, this Ferryman knows up to {len(VERSIONS)}: "
            "upgrade Ferryman here"
        )
    return int(version)


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Apply the schema files after `version`; the caller holds the write transaction."""
    for script in VERSIONS[version:]:
        for statement in _statements(script):
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {len(VERSIONS)}")


def script(version: int) -> str:
    """What `migrate` does to a database of this version, for somebody else to run."""
    if version >= len(VERSIONS):
        return f"-- version {len(VERSIONS)} is the present one"
    marks = (
        f"PRAGMA application_id = {APPLICATION_ID};",
        f"PRAGMA user_version = {len(VERSIONS)};",
    )
    return "\n".join(["BEGIN IMMEDIATE;", *VERSIONS[version:], *marks, "COMMIT;"])


def _statements(script: str) -> Iterator[str]:
    # executescript would commit first, and a half-made schema must never be seen.
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
