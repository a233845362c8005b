"""What an exception tells about the service that caused it: its kinds, and when to come again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from ferryman.message import MAX_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a handler did not succeed, in plain values, so that a child process can tell it too.

    `kinds` are the names of the exception's class and its bases; `retry_after` is seconds.
    """

    kinds: tuple[str, ...]
    text: str
    retry_after: float | None = None

    @classmethod
    def of(cls, error: BaseException, now: float) -> Failure:
        kinds = tuple(_kind(each) for each in type(error).__mro__)
        return cls(kinds, f"{type(error).__name__}: {error}", retry_after(error, now))

    def is_a(self, classes: Iterable[type[BaseException]]) -> bool:
        return any(_kind(each) in self.kinds for each in classes)

    def to_json(self) -> dict[str, Any]:
        return {"kinds": self.kinds, "text": self.text, "retry_after": self.retry_after}

    @classmethod
    def from_json(cls, told: Mapping[str, Any] | None) -> Failure | None:
        if told is None:
            return None
        return cls(tuple(told["kinds"]), told["text"], told["retry_after"])


def retry_after(error: BaseException, now: float) -> float | None:
    """Seconds that a service asked to wait, from an exception that carries its answer.

    Read are a `retry_after` of the exception's own (seconds, a timedelta, a datetime or text) and
    the header `Retry-After` of its `response` or itself, as requests, httpx, aiohttp and urllib
    have it: seconds, or an HTTP date. None: it did not ask.
    """
    own = _seconds(getattr(error, "retry_after", None), now)
    if own is not None:
        return own
    for holder in (getattr(error, "response", None), error):
        headers: Any = getattr(holder, "headers", None)
        if hasattr(headers, "get"):
            told = headers.get("Retry-After") or headers.get("retry-after")
            if (seconds := _seconds(told, now)) is not None:
                return seconds
    return None


def _seconds(value: object, now: float) -> float | None:
    if isinstance(value, str):
        value = _from_text(value.strip())
    if isinstance(value, datetime):
        moment = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        value = max(0.0, moment.timestamp() - now)
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not math.isfinite(value) or value < 0:
        return None
    return min(float(value), MAX_SECONDS)


def _from_text(text: str) -> float | datetime | None:
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(text)
    except ValueError:
        return None


def _kind(each: type) -> str:
    # A child process has imported the main module under another name.
    module = "__main__" if each.__module__ == "__mp_main__" else each.__module__
    return f"{module}.{each.__qualname__}"
