"""When a schedule is due: the moments of a cron expression or of an interval."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from ferryman.errors import InvalidMessage
from ferryman.message import MAX_SECONDS, check_int

if TYPE_CHECKING:
    from collections.abc import Iterator

# Looked at from the latest to the whole time: what is frequent is found in the first of them.
_WINDOWS: Final = (3_600.0, 86_400.0, 32 * 86_400.0)


@dataclass(frozen=True, slots=True)
class Slots:
    """The moments of a schedule, in whole seconds since the epoch.

    `cron` has five fields (or six, the first one seconds) and is read in the time zone `tz`. Where
    its minutes and its hours are both given, a wall time that a clock change leaves out is due when
    the clock goes on, and one that comes twice is due the first time only; `*` in either of them
    follows the time that really passes. `every` is seconds; its moments are multiples of it, so
    that all workers agree on them.
    """

    cron: str | None = None
    every: int | None = None
    tz: str = "UTC"

    @classmethod
    def of(cls, cron: str | None, every: float | timedelta | None, tz: str) -> Slots:
        """From what a user gives: seconds may be a float or a timedelta, and must be whole."""
        seconds = every.total_seconds() if isinstance(every, timedelta) else every
        if isinstance(seconds, float):
            if not seconds.is_integer():
                raise InvalidMessage("every", f"must be whole seconds, got {seconds}")
            seconds = int(seconds)
        return cls(cron, seconds, tz)

    def __post_init__(self) -> None:
        if (self.cron is None) == (self.every is None):
            raise InvalidMessage("cron", "give either cron or every, and not both")
        if self.every is not None:
            check_int("every", self.every, 1, int(MAX_SECONDS))
            return
        try:
            next(self._cron_after(0.0))
        except CronSimError as error:
            raise InvalidMessage("cron", f"{self.cron!r}: {error}") from None
        except StopIteration:
            raise InvalidMessage("cron", f"{self.cron!r} is never due") from None

    def __str__(self) -> str:
        if self.every is not None:
            return f"every {self.every} s"
        return f"{self.cron} {self.tz}"

    def after(self, moment: float) -> Iterator[float]:
        """Every slot later than `moment`, in order."""
        return self._cron_after(moment) if self.every is None else self._every_after(moment)

    def between(self, after: float, until: float) -> Iterator[float]:
        """Every slot later than `after` up to `until`, in order."""
        return takewhile(lambda slot: slot <= until, self.after(after))

    def latest(self, after: float, until: float) -> float | None:
        """The last slot later than `after` up to `until`."""
        if after >= until:
            return None
        for start in (*(until - window for window in _WINDOWS), after):
            found = None
            for found in self.between(max(start, after), until):  # noqa: B007 - the last one
                pass
            if found is not None:
                return found
        return None

    def _every_after(self, moment: float) -> Iterator[float]:
        every = self.every or 1
        slot = (moment // every) * every
        while True:
            slot += every
            yield slot

    def _cron_after(self, moment: float) -> Iterator[float]:
        start = datetime.fromtimestamp(moment, UTC).astimezone(_zone(self.tz))
        last = moment
        for due in CronSim(self.cron or "", start):
            slot = due.timestamp()
            # Begun within an hour that comes twice, the simulation names its first passage.
            if slot > last:
                last = slot
                yield slot


def _zone(name: object) -> ZoneInfo:
    try:
        return ZoneInfo(name)  # type: ignore[arg-type]
    except (ZoneInfoNotFoundError, ValueError, TypeError, OSError):
        raise InvalidMessage(
            "tz", f"{name!r} is no time zone known here: use a name such as Europe/Berlin or UTC"
        ) from None
