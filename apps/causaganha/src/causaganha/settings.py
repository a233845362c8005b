"""What can be set, and where it comes from: the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "CAUSAGANHA_"
_ELSEWHERE = {
    "ia_access_key": "IA_ACCESS_KEY",
    "ia_secret_key": "IA_SECRET_KEY",
    "gemini_key": "GEMINI_API_KEY",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Each is an environment variable: `CAUSAGANHA_DATABASE`, …; keys have their usual names.

    `queue` is the store of the jobs, by default the database. Quotas are separated by commas, and
    the court's default is its own wish: two seconds between requests; Gemini's leaves its 15 a
    minute, counted as they arrive, three seconds to be on their way. A stage rests while `ahead`
    editions wait for the next one. Times are seconds.
    """

    database: str = "sqlite:///causaganha.db"
    queue: str = ""
    data: str = "data"
    tjro: str = "https://www.tjro.jus.br"
    tjro_quotas: str = "1/2s"
    archive: str = "https://archive.org"
    archive_s3: str = "https://s3.us.archive.org"
    gemini: str = "https://generativelanguage.googleapis.com"
    gemini_model: str = "gemini-2.5-flash"
    gemini_quotas: str = "15/63s,500/d"
    ia_access_key: str = ""
    ia_secret_key: str = ""
    gemini_key: str = ""
    ahead: int = 200
    max_attempts: int = 3
    backoff: float = 2.0
    cooldown: float = 300.0
    lease: float = 60.0

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Read what is set; `ValueError` names a number that is none."""
        given: dict[str, Any] = {}
        for field in fields(cls):
            name = _variable(field.name)
            if text := environment.get(name):
                given[field.name] = _read(name, text, type(field.default))
        return cls(**given)

    @property
    def environment(self) -> dict[str, str]:
        """The variables that tell another process the same."""
        values = {each.name: str(getattr(self, each.name)) for each in fields(self)}
        return {_variable(name): value for name, value in values.items() if value}

    @property
    def queue_url(self) -> str:
        """The store of the jobs."""
        return self.queue or self.database


def _variable(name: str) -> str:
    return _ELSEWHERE.get(name, PREFIX + name.upper())


def _read(name: str, text: str, kind: type) -> object:
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"{name} must be a number, not {text!r}") from None
