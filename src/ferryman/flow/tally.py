"""How many grants of a rate are left, from a log of those that were given. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from zoneinfo import ZoneInfo

    from ferryman.tasks.limits import Quota

GRACE: Final = 0.05
"""Seconds within which a grant is used. It counts that much longer than its period, so that calls
keep the rate however late in this time each of them is made."""
_STEPS: Final = 100
"""Grants are logged in so many steps of a period, dated by the end of theirs: the log of a large
quota stays small, and the rate is at most a hundredth lower."""

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tally:
    """The arithmetic of some quotas over a document `{"15/m": [[moment, grants], …],
    "500/d": {"2027-01-15": grants}, "wait_until": moment}`."""

    quotas: tuple[Quota, ...]
    zone: ZoneInfo

    def free(self, document: Mapping[str, Any], now: float, leave: int = 0) -> int:
        """Grants that can be given at this moment, if `leave` of a day's are to stay."""
        if document.get("wait_until", 0.0) > now:
            return 0
        lefts = [
            self.left(document, quota, now) - (leave if quota.daily else 0) for quota in self.quotas
        ]
        return max(0, min(lefts))

    def left(self, document: Mapping[str, Any], quota: Quota, now: float) -> int:
        """What is left of one quota."""
        return max(0, quota.count - sum(number for _, number in self._log(document, quota, now)))

    def free_at(
        self, document: Mapping[str, Any], now: float, wanted: int = 1, leave: int = 0
    ) -> float:
        """When so many grants can be given, if nobody takes any meanwhile."""
        moments: list[float] = [now, document.get("wait_until", 0.0)]
        for quota in self.quotas:
            whole = wanted + leave if quota.daily else wanted
            moments.append(self._quota_free_at(document, quota, now, whole))
        return max(moments)

    def take(self, document: Mapping[str, Any], number: int, now: float) -> Document:
        """With so many more grants given now."""
        return self._booked(document, number, now, now)

    def refund(self, document: Mapping[str, Any], number: int, at: float, now: float) -> Document:
        """Without so many of the grants that were given at that moment and never used."""
        return self._booked(document, -number, at, now)

    def _booked(self, document: Mapping[str, Any], number: int, at: float, now: float) -> Document:
        after: Document = {"zone": self.zone.key}
        if document.get("wait_until", 0.0) > now:
            after["wait_until"] = document["wait_until"]
        for quota in self.quotas:
            log = dict(self._log(document, quota, now))
            place = self._place(quota, at)
            if number > 0 or place in log:
                log[place] = log.get(place, 0) + number
            kept = [(moment, grants) for moment, grants in sorted(log.items()) if grants > 0]
            after[str(quota)] = dict(kept) if quota.daily else [list(entry) for entry in kept]
        return after

    def _log(self, document: Mapping[str, Any], quota: Quota, now: float) -> list[tuple[Any, int]]:
        """What still counts against a quota: by step, or for a day by its date."""
        known = document.get(str(quota)) or ()
        if quota.daily:
            today = self._place(quota, now)
            # Not only today: a clock that is set back must not find an unspent day.
            days = known.items() if hasattr(known, "items") else ()
            return [(day, number) for day, number in days if day >= today]
        since = now - quota.seconds - GRACE
        return [(moment, number) for moment, number in known if moment > since]

    def _place(self, quota: Quota, at: float) -> Any:
        if quota.daily:
            return datetime.fromtimestamp(at, self.zone).date().isoformat()
        step = quota.seconds / _STEPS
        return round(math.ceil(at / step) * step, 6)

    def _quota_free_at(
        self, document: Mapping[str, Any], quota: Quota, now: float, wanted: int
    ) -> float:
        missing = wanted - self.left(document, quota, now)
        if missing <= 0:
            return now
        if quota.daily:
            return self._midnight(now)
        for moment, number in sorted(self._log(document, quota, now)):
            missing -= number
            if missing <= 0:
                return float(moment) + quota.seconds + GRACE
        return now + quota.seconds + GRACE

    def _midnight(self, now: float) -> float:
        tomorrow = datetime.fromtimestamp(now, self.zone).date() + timedelta(days=1)
        start = datetime(tomorrow.year, tomorrow.month, tomorrow.day, tzinfo=self.zone)
        return start.timestamp()
