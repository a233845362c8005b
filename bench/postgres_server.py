"""A real PostgreSQL for the length of a block: from its wheel, as durable as it comes."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from bench.server import server_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ADDRESS: Final = "FERRYMAN_BENCH_POSTGRES"


@contextmanager
def postgresql() -> Iterator[None]:
    """While the block lasts, `postgres_url` of this process and its children leads to it."""
    with server_of("durable-postgres") as address:
        os.environ[ADDRESS] = f"postgresql://postgres@{address.partition('://')[2]}/postgres"
        try:
            yield
        finally:
            del os.environ[ADDRESS]


def postgres_url() -> str:
    """The URL of the server's database."""
    return os.environ[ADDRESS]


def schema_of(folder: Path) -> str:
    """A name of its own for what belongs to a folder."""
    return re.sub(r"\W", "_", f"b{folder.name}").lower()
