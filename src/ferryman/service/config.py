"""Settings, read once at the edge: a flag, else the environment, else nothing was said.

What nobody set stays None; defaults are filled in last, by whoever knows them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from ferryman.errors import FerrymanError
from ferryman.ferry import DEFAULT_URL
from ferryman.worker.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

LEVELS: Final = ("debug", "info", "warning", "error", "critical")
FORMATS: Final = ("text", "json")
MAX_SLOTS: Final = 10_000
PREFIX: Final = "FERRYMAN_"
OTHERS: Final = "*"
"""As a queue's name: every other queue of the app."""

_UNITS: Final = {"": 1, "ms": 0.001, "s": 1, "m": 60, "h": 3_600, "d": 86_400}


class InvalidSetting(FerrymanError, ValueError):
    """A flag or variable could not be read; the text names it and what is allowed."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"{name}: {problem}")
        self.name = name


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What was set by flag or environment. Durations are seconds; None is unset."""

    url: str | None = None
    queues: Mapping[str, int | None] | None = None
    concurrency: int | None = None
    lease: float | None = None
    drain: float | None = None
    poll_every: float | None = None
    log_level: str | None = None
    log_format: str | None = None

    @classmethod
    def load(cls, environ: Mapping[str, str], **flags: str | None) -> Config:
        """Read these settings: each by its flag `--name`, else by its variable `FERRYMAN_NAME`."""
        return cls(**{name: _chosen(name, flag, environ) for name, flag in flags.items()})

    @property
    def store_url(self) -> str:
        return self.url or DEFAULT_URL

    def worker_settings(self, lease: float) -> Settings:
        """A worker's numbers; `lease` is the app's own, for when none was set."""
        chosen = {
            "lease": self.lease or lease,
            "drain": self.drain,
            "poll_every": self.poll_every,
        }
        return Settings(**{name: value for name, value in chosen.items() if value is not None})

    def slots(self, known: Collection[str]) -> dict[str, int]:
        """Slots for each queue: as named, else `concurrency`, else one.

        Without names every queue that the app knows; `*` among the names means all others.
        """
        default = self.concurrency or 1
        named = dict(self.queues) if self.queues is not None else {OTHERS: None}
        others = named.pop(OTHERS, 0)
        chosen = {queue: slots or default for queue, slots in named.items()}
        if others == 0:
            return chosen
        return {**dict.fromkeys(sorted(known), others or default), **chosen}


def duration(name: str, text: str) -> float:
    """Seconds from `30`, `1.5`, `500ms`, `30s`, `5m`, `2h` or `1d`."""
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)(ms|[smhd]?)", text.strip())
    if found is None:
        raise InvalidSetting(name, f"{text!r} is no duration: write seconds, or 500ms, 5m, 2h, 1d")
    return float(found[1]) * _UNITS[found[2]]


def variable(name: str) -> str:
    """The environment's name for a setting."""
    return f"{PREFIX}{name.upper()}"


def origin(name: str, flag: str | None, environ: Mapping[str, str]) -> str | None:
    """Who set it: the flag, else the variable, by name; None if nobody did."""
    if flag is not None:
        return f"--{name.replace('_', '-')}"
    # An empty variable is how a shell unsets one for a single command.
    return variable(name) if environ.get(variable(name)) else None


def _chosen(name: str, flag: str | None, environ: Mapping[str, str]) -> Any:
    source = origin(name, flag, environ)
    if source is None:
        return None
    return _READERS[name](source, environ[source] if flag is None else flag)


def _url(name: str, text: str) -> str:
    try:
        scheme = urlsplit(text).scheme
    except ValueError:
        scheme = ""
    if not scheme:
        # The text is not repeated: it may hold a password that only a whole URL could mask.
        raise InvalidSetting(name, "this is no URL: write one such as sqlite:///jobs.db")
    return text


def _above_zero(name: str, text: str) -> float:
    seconds = duration(name, text)
    if seconds <= 0:
        raise InvalidSetting(name, "must be above zero")
    return seconds


def _slot_count(name: str, text: str) -> int:
    if not re.fullmatch(r"\d{1,9}", text.strip()) or not 1 <= int(text) <= MAX_SLOTS:
        raise InvalidSetting(name, f"{text!r}: slots are a whole number from 1 to {MAX_SLOTS:,}")
    return int(text)


def _queues(name: str, text: str) -> dict[str, int | None]:
    queues: dict[str, int | None] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        queue, colon, slots = part.rpartition(":")
        queue = queue if colon else part
        if not queue or queue in queues:
            problem = "is named twice" if queue else "has no name"
            raise InvalidSetting(name, f"{part!r} {problem}: write archive:4,extract:1")
        queues[queue] = _slot_count(name, slots) if colon else None
    if not queues:
        raise InvalidSetting(name, f"{text!r} names no queue: write archive:4,extract:1")
    return queues


def _one_of(allowed: tuple[str, ...]) -> Callable[[str, str], str]:
    def read(name: str, text: str) -> str:
        if text.lower() not in allowed:
            raise InvalidSetting(name, f"{text!r} is unknown: use {', '.join(allowed)}")
        return text.lower()

    return read


_READERS: Final[Mapping[str, Callable[[str, str], Any]]] = {
    "url": _url,
    "queues": _queues,
    "concurrency": _slot_count,
    "lease": _above_zero,
    "drain": duration,
    "poll_every": _above_zero,
    "log_level": _one_of(LEVELS),
    "log_format": _one_of(FORMATS),
}
