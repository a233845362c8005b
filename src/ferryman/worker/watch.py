"""Notices handlers that run over their timeout, and claims stuck behind slow ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.worker.loop import Loop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ferryman.clock import Clock
    from ferryman.events import Events
    from ferryman.worker.claim import Claim
    from ferryman.worker.lane import Lane

EVERY = 0.2


class Watch(Loop):
    """Looks at what runs five times a second; `over` is called for each claim past its deadline."""

    name = "watch"

    def __init__(
        self,
        lanes: Iterable[Lane],
        over: Callable[[Claim, Lane], None],
        give_back: Callable[[Claim], None],
        clock: Clock,
        *,
        events: Events,
        died: Callable[[str, BaseException], None],
    ) -> None:
        super().__init__(events, died)
        self._lanes = list(lanes)
        self._over = over
        self._give_back = give_back
        self._clock = clock

    def turn(self) -> float:
        now = self._clock.monotonic()
        for lane in self._lanes:
            for claim in lane.running:
                if claim.deadline is not None and now > claim.deadline:
                    self._over(claim, lane)
            for claim in lane.stuck(now):
                self._give_back(claim)
        return EVERY
