"""The services on loopback, and the stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from causaganha.stand_ins.archive import ArchiveStandIn
from causaganha.stand_ins.gazette import year_of
from causaganha.stand_ins.gemini import GeminiStandIn
from causaganha.stand_ins.mishaps import Mishaps
from causaganha.stand_ins.tjro import TjroStandIn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


@pytest.fixture
def tjro(request: pytest.FixtureRequest) -> Iterator[TjroStandIn]:
    """Seven short editions; its mishaps by `indirect`."""
    with TjroStandIn(year_of(2025, 7, 4), Mishaps(getattr(request, "param", ()))) as service:
        yield service


@pytest.fixture
def archive(request: pytest.FixtureRequest) -> Iterator[ArchiveStandIn]:
    with ArchiveStandIn(Mishaps(getattr(request, "param", ()))) as service:
        yield service


@pytest.fixture
def gemini(request: pytest.FixtureRequest) -> Iterator[GeminiStandIn]:
    with GeminiStandIn(Mishaps(getattr(request, "param", ()))) as service:
        yield service


@pytest.fixture(params=["sqlite", "file", "postgresql"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Mapping[str, Any]:
    """Where jobs and tables are: together in a database, or jobs in a folder."""
    match request.param:
        case "sqlite":
            return {}
        case "file":
            return {"queue": f"file://{tmp_path}/queue"}
        case _:
            return {"database": str(request.getfixturevalue("own_tables_url"))}
