"""How SQLite tests what a filter asks: with Python's own rules, called from SQL."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from ferryman.backends.sql.where import Dialect
from ferryman.filter import as_text, dig

if TYPE_CHECKING:
    import sqlite3

# SQLite lowers ASCII only and reads numbers as doubles; asking Python keeps every backend's answer
# to a filter the same.
DIALECT: Final = Dialect(
    mark="?",
    has="has_text({column}, ?)",
    payload="payload_text(body, ?)",
    unindexed="+{column}",
)


def add_functions(connection: sqlite3.Connection) -> None:
    """Give a connection the functions that `DIALECT` names."""
    connection.create_function("has_text", 2, _has_text, deterministic=True)
    connection.create_function("payload_text", 2, _payload_text, deterministic=True)


def _has_text(text: str | None, part: str) -> bool:
    return part in (text or "").lower()


def _payload_text(body: str, path: str) -> str | None:
    try:
        return as_text(dig(json.loads(body), tuple(json.loads(path))))
    except ValueError:
        return None
