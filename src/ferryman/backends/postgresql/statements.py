"""The statements and schema files, filled in for one schema of a database."""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from ferryman.backends.postgresql.known import Known
from ferryman.backends.sql.claim import Claim
from ferryman.backends.sql.statements import load, schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferryman.backends.postgresql.location import Location

VERSIONS: Final = schema("ferryman.backends.postgresql")

QUEUE_LOCK: Final = 0
KEY_LOCK: Final = 1
CELL_LOCK: Final = 2
SCHEMA_LOCK: Final = 3
# A view is outside the store's schema: two stores of one database may want the same name.
VIEW_LOCK: Final = 4
PRUNE_LOCK: Final = 5
CAPACITY_LOCK: Final = 6

_GENERAL: Final = load("ferryman.backends.postgresql", claim=Claim._fields, known=Known._fields)


@lru_cache(maxsize=16)
def statements(location: Location) -> Mapping[str, str]:
    """Every statement by the name of its file."""
    return MappingProxyType({name: fill(text, location) for name, text in _GENERAL.items()})


def versions(location: Location) -> Sequence[str]:
    """The scripts that lead from each version of the schema to the next."""
    return [fill(script, location) for script in VERSIONS]


def fill(text: str, location: Location) -> str:
    """`Location` allows nothing in a schema's name that would need quoting."""
    return (
        text.replace("{schema}", location.schema)
        .replace("{channel}", f"'{location.channel}'")
        .replace("{queue_lock}", str(location.lock(QUEUE_LOCK)))
        .replace("{key_lock}", str(location.lock(KEY_LOCK)))
        .replace("{cell_lock}", str(location.lock(CELL_LOCK)))
        .replace("{schema_lock}", str(location.lock(SCHEMA_LOCK)))
        .replace("{view_lock}", str(VIEW_LOCK))
        .replace("{prune_lock}", str(location.lock(PRUNE_LOCK)))
        .replace("{capacity_lock}", str(location.lock(CAPACITY_LOCK)))
    )
