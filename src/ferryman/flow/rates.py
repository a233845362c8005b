"""A rate: at most so many grants in a period, over all processes of a store."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Final

from ferryman.errors import TaskError
from ferryman.message import check_int, check_seconds
from ferryman.outcomes import Snooze
from ferryman.tasks.aio import offload

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ferryman.clock import Clock
    from ferryman.flow.shared import Document, Value
    from ferryman.flow.tally import Tally
    from ferryman.queue.contract import Backend

RATE_CELLS: Final = "rate/"


class Rate:
    """Grants by the store's clock. A grant that was given is spent, whatever becomes of its user.

    Periods slide: in any 60 seconds at most 15 for `15/m`. Days are those of the calendar in the
    rate's zone.
    """

    def __init__(self, name: str, value: Value, store: Callable[[], Backend]) -> None:
        self.name = name
        self._tally: Tally | None = None
        self._value = value
        self._store = store

    def declare(self, tally: Tally) -> None:
        """Its quotas; said twice, they must be the same."""
        if self._tally not in (None, tally):
            raise TaskError(f"rate {self.name!r} is declared twice, differently")
        self._tally = tally

    def check(self) -> None:
        """`TaskError` if it is not declared, `Unsupported` where the store cannot hold it."""
        _ = self.tally
        self._value.check()

    @property
    def tally(self) -> Tally:
        if self._tally is None:
            raise TaskError(
                f"rate {self.name!r} is not declared: ferry.rate({self.name!r}, '15/m')"
            )
        return self._tally

    @property
    def clock(self) -> Clock:
        return self._store().clock

    def take(self, count: int = 1, *, wait: float = 10.0, leave: int = 0) -> None:
        """Spend `count` grants; call the service right after.

        Waits at most `wait` seconds for them. If that is too short, or the day's are spent, it
        raises `Snooze` until they may be there: a handler that lets it pass gives its job back,
        uncharged. `leave` of a day's grants stay for others: give it to what matters less.
        """
        check_int("count", count, 1, min(quota.count for quota in self.tally.quotas))
        days = [quota.count for quota in self.tally.quotas if quota.daily]
        check_int("leave", leave, 0, min(days, default=count) - count)
        check_seconds("wait", wait)
        deadline = time.monotonic() + wait
        while (seconds := self._try(count, leave)) is not None:
            left = deadline - time.monotonic()
            if seconds > left:
                raise Snooze(seconds, f"rate {self.name!r} is spent for {seconds:.3g} s")
            # Those who wait for the same moment must not all come at once.
            time.sleep(min(left, seconds + random.uniform(0, 0.01)))  # noqa: S311

    async def atake(self, count: int = 1, *, wait: float = 10.0, leave: int = 0) -> None:
        """`take` for async callers."""
        await offload(self.take, count, wait=wait, leave=leave)

    def postpone(self, seconds: float) -> None:
        """Give no grants for so many seconds: the service said to wait."""
        check_seconds("seconds", seconds)

        def step(document: Document) -> tuple[Document | None, None]:
            until = self.clock.now() + seconds
            if document.get("wait_until", 0.0) >= until:
                return None, None
            return {"zone": self.tally.zone.key, **document, "wait_until": until}, None

        self._value.change(step)

    def left(self) -> dict[str, int]:
        """What is left of each quota now."""
        document, now = self._value.read(), self.clock.now()
        return {str(quota): self.tally.left(document, quota, now) for quota in self.tally.quotas}

    # -- for workers, which take several at once

    def look(self) -> tuple[int, float]:
        """How many grants could be given now, and when the next one can."""
        document, now = self._value.read(), self.clock.now()
        return self.tally.free(document, now), self.tally.free_at(document, now)

    def grant(self, want: int, back: Sequence[float] = ()) -> tuple[int, float, float]:
        """Up to `want` grants; how many, the moment they count from, and when more can be given.

        `back` are the moments of grants that were not used.
        """

        def step(document: Document) -> tuple[Document | None, tuple[int, float, float]]:
            now = self.clock.now()
            after = document
            for moment in back:
                after = self.tally.refund(after, 1, moment, now)
            given = min(want, self.tally.free(after, now))
            if given:
                after = self.tally.take(after, given, now)
            answer = given, now, self.tally.free_at(after, now)
            return after if given or back else None, answer

        return self._value.change(step)

    def _try(self, count: int, leave: int) -> float | None:
        """None: taken; else seconds until there may be enough."""

        def step(document: Document) -> tuple[Document | None, float | None]:
            now = self.clock.now()
            if self.tally.free(document, now, leave) >= count:
                return self.tally.take(document, count, now), None
            return None, max(0.001, self.tally.free_at(document, now, count, leave) - now)

        return self._value.change(step)
