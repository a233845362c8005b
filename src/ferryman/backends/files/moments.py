"""Moments as text: ISO 8601 in UTC with microseconds, exact in both directions."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

_END: Final = datetime(9999, 12, 31, tzinfo=UTC).timestamp()


@lru_cache(maxsize=4_096)
def text_of(moment: float) -> str:
    """`2026-03-01T12:00:00.250000Z` for seconds since the epoch that are whole microseconds."""
    second, micros = divmod(round(moment * 1e6), 1_000_000)
    return f"{_second(second)}.{micros:06d}Z"


def moment_of(value: object) -> float:
    """Read what `text_of` wrote, or what people write: any ISO 8601, or seconds since the epoch."""
    if isinstance(value, str):
        return _read(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r} is no moment: write 2026-03-01T12:00:00Z")
    return whole(_within(value))


@lru_cache(maxsize=256)
def _read(text: str) -> float:
    # Two times of a job are often the same one.
    read = datetime.fromisoformat(text)
    return _within((read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp())


def _within(moment: float) -> float:
    """Refuse what could not be written as text again."""
    if not 0 <= moment < _END:
        raise ValueError(f"{moment!r} seconds after 1970 is no time that can be written")
    return moment


def whole(moment: float) -> float:
    """The nearest whole microsecond, so that a moment survives its text."""
    return round(moment * 1e6) / 1e6


def not_before(moment: float) -> float:
    """The first whole microsecond that is not earlier: a job is never ready too soon."""
    micros = round(moment * 1e6)
    return micros / 1e6 if micros / 1e6 >= moment else (micros + 1) / 1e6


def not_after(moment: float) -> float:
    """The last whole microsecond that is not later: what is pushed now is ready now."""
    micros = round(moment * 1e6)
    return micros / 1e6 if micros / 1e6 <= moment else (micros - 1) / 1e6


@lru_cache(maxsize=256)
def _second(second: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
