"""Every setting with its value now and who set it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from ferryman.ferry import DEFAULT_URL
from ferryman.service.config import PREFIX, Config, origin, variable
from ferryman.worker.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

BY_DEFAULT: Final = "default"

# What a worker takes when nobody said anything; a name that is missing here is the app's to say.
_DEFAULTS: Final[Mapping[str, Any]] = {
    "url": DEFAULT_URL,
    "concurrency": 1,
    "lease": Settings().lease,
    "drain": Settings().drain,
    "poll_every": Settings().poll_every,
    "log_level": "info",
    "log_format": "text",
}
_NO_SETTINGS: Final = frozenset({"FERRYMAN_DEBUG", "FERRYMAN_ENVIRONMENT", "FERRYMAN_TOKEN"})


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. `origin` is the flag or variable that set it, or `default`; None: the app's."""

    name: str
    value: Any
    origin: str
    variable: str


def settings(environ: Mapping[str, str], **flags: str | None) -> Sequence[Setting]:
    """All settings in the order of `Config`; what cannot be read is an `InvalidSetting`."""
    found = []
    for name in (field.name for field in fields(Config)):
        flag = flags.get(name)
        source = origin(name, flag, environ)
        read = getattr(Config.load(environ, **{name: flag}), name)
        value = _DEFAULTS.get(name) if source is None else read
        found.append(Setting(name, value, source or BY_DEFAULT, variable(name)))
    return found


def strangers(environ: Mapping[str, str]) -> Mapping[str, str | None]:
    """Variables that look like settings and are none, with the one that was probably meant."""
    known = {variable(field.name) for field in fields(Config)} | _NO_SETTINGS
    odd = sorted(name for name in environ if name.startswith(PREFIX) and name not in known)
    return {name: _closest(name, known) for name in odd}


def _closest(name: str, known: Collection[str]) -> str | None:
    # Without the prefix, which would make all of them look alike.
    ends = [one.removeprefix(PREFIX) for one in known]
    close = get_close_matches(name.removeprefix(PREFIX), ends, 1)
    return f"{PREFIX}{close[0]}" if close else None
