"""The application among its stand-ins."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from causaganha.pdf import PAGES
from causaganha.settings import Settings
from causaganha.stand_ins.archive import ArchiveStandIn
from causaganha.stand_ins.gazette import year_of
from causaganha.stand_ins.gemini import KEY, GeminiStandIn
from causaganha.stand_ins.mishaps import Mishaps
from causaganha.stand_ins.tjro import TjroStandIn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Town:
    """Three services, and settings that lead there."""

    tjro: TjroStandIn
    archive: ArchiveStandIn
    gemini: GeminiStandIn
    settings: Settings

    @property
    def chunks(self) -> int:
        """How many chunks all editions have: so many answers of Gemini are needed."""
        return sum(-(-each.pages // PAGES) for each in self.tjro.editions)


@contextmanager
def town(
    folder: Path,
    *,
    editions: int = 7,
    pages: int = 4,
    queue: str = "",
    database: str = "",
    mishaps: bool = False,
    tjro_quotas: str = "1000/s",
    gemini_quotas: str = "1000/s",
    cooldown: float = 1.0,
    max_attempts: int = 3,
    lease: float = 60.0,
    backoff: float = 0.1,
    ahead: int = 200,
) -> Iterator[Town]:
    """Services of one year, 2025; with `mishaps`, each misbehaves once for each thing asked."""
    with (
        TjroStandIn(
            year_of(2025, editions, pages),
            Mishaps(["429", "503", "cut", "slow", "html"] if mishaps else []),
        ) as tjro,
        ArchiveStandIn(Mishaps(["lost", "503"] if mishaps else [])) as archive,
        GeminiStandIn(
            Mishaps(["429", "503", "broken", "fenced", "english", "invalid"] if mishaps else []),
            slow=0.2 if mishaps else 0.0,
        ) as gemini,
    ):
        settings = Settings(
            database=database or f"sqlite:///{folder}/causaganha.db",
            queue=queue,
            data=str(folder / "data"),
            tjro=tjro.url,
            tjro_quotas=tjro_quotas,
            archive=archive.url,
            archive_s3=archive.url,
            gemini=gemini.url,
            gemini_quotas=gemini_quotas,
            ia_access_key="key",
            ia_secret_key="secret",  # noqa: S106
            gemini_key=KEY,
            ahead=ahead,
            max_attempts=max_attempts,
            backoff=backoff,
            cooldown=cooldown,
            lease=lease,
        )
        yield Town(tjro, archive, gemini, settings)
