"""How many jobs an API key may push, counted in the store."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from ferryman.errors import BackendError, FerrymanError, InvalidMessage, OutcomeUnknown
from ferryman.flow.shared import Shared
from ferryman.flow.tally import Tally
from ferryman.tasks.limits import DAY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.flow.tally import Document
    from ferryman.queue.contract import Backend
    from ferryman.tasks.limits import Quota

PUSH_CELLS: Final = "api-key-pushes/"


class PushesSpent(FerrymanError):
    """The key has pushed as many jobs as it may; after `retry_after` seconds it may push these."""

    def __init__(self, quota: Quota, retry_after: float) -> None:
        super().__init__(f"this key may push {quota} jobs, and has; retry in {retry_after:.3g} s")
        self.retry_after = retry_after


@dataclass(slots=True)
class Spending:
    """A push under way; `used` is how many jobs it made, the rest is given back."""

    used: int = 0


class PushQuota:
    """The quota of one key, which holds over all servers of the store.

    Periods are those of rates: they slide, and days are those of the calendar in UTC. What is
    spent for a push whose server dies stays spent.
    """

    def __init__(self, backend: Backend, key_id: str, quota: Quota) -> None:
        self._quota = quota
        self._tally = Tally((quota,), ZoneInfo("UTC"))
        self._clock = backend.clock
        # Until then nothing of it counts any more.
        ttl = 2 * max(DAY, quota.seconds)
        self._value = Shared(lambda: backend, PUSH_CELLS + key_id, "use another store", ttl=ttl)

    @contextlib.contextmanager
    def spend(self, count: int) -> Iterator[Spending]:
        """Take `count` from the quota for what is pushed within; `PushesSpent` before it if that
        is not left."""
        moment = self._take(count)
        spending = Spending()
        try:
            yield spending
        except OutcomeUnknown:
            spending.used = count
            raise
        finally:
            if spending.used < count:
                # What was pushed is pushed, whatever becomes of the rest.
                with contextlib.suppress(BackendError):
                    self._give_back(count - spending.used, moment)

    def left(self) -> int:
        """How many jobs the key may push now."""
        return self._tally.left(self._value.read(), self._quota, self._clock.now())

    def forget(self) -> None:
        self._value.delete()

    def _take(self, count: int) -> float:
        if count > self._quota.count:
            raise InvalidMessage(
                "jobs", f"{count} at once are more than this key may push at all: {self._quota}"
            )

        def step(document: Document) -> tuple[Document | None, tuple[float, float]]:
            now = self._clock.now()
            if self._tally.free(document, now) < count:
                return None, (now, self._tally.free_at(document, now, count))
            return self._tally.take(document, count, now), (now, now)

        now, free_at = self._value.change(step)
        if free_at > now:
            raise PushesSpent(self._quota, free_at - now)
        return now

    def _give_back(self, count: int, moment: float) -> None:
        def step(document: Document) -> tuple[Document | None, None]:
            return self._tally.refund(document, count, moment, self._clock.now()), None

        self._value.change(step)
